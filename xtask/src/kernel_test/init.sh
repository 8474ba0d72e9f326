# The first process of the guest. xtask puts the paths of the programs before it. Results go to $OUT, a directory of the
# host; everything else of the host is read-only.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export OARLOCK_REQUIRE_KERNEL_TLS=1 OARLOCK_PROGRESS_SECONDS=0 HOME=/run TMPDIR=/run
# By its path: until /proc is the guest's, busybox would find the host's program behind /proc/self/exe.
"$BUSYBOX" mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t tmpfs -o size=160m tmpfs /run
busybox mkdir /run/out
busybox mount -t hostfs -o "$OUT" none /run/out
busybox ip link set lo up
cd /run || busybox poweroff -f
busybox uname -r >/run/out/booted

# step NAME COMMAND...: runs a command, keeps its output, and notes its end.
step() {
  local name=$1
  shift
  "$@" >"/run/out/$name.log" 2>&1
  echo "$name $?" >>/run/out/steps
}

# Modules, each behind those that it needs. A module without a file is a part of the kernel.
load() {
  local path
  path=$(busybox find "/usr/lib/uml/modules/$(busybox uname -r)" -name "$1.ko")
  [ -z "$path" ] || busybox insmod "$path"
}
for module in gf128mul cryptd ghash-generic ctr gcm af_alg algif_skcipher algif_aead tls; do
  step "module-$module" load "$module"
done
# For ChaCha20-Poly1305. Some kernels lack them; then the rows say so.
for module in libchacha libpoly1305 chacha_generic poly1305_generic chacha20poly1305; do
  load "$module" 2>/dev/null
done

step tests "$KERNEL_TLS_TESTS" --test-threads 2
step proxy "$PROXY_TESTS" kernel_hand_over:: --nocapture
step probe "$OARLOCK" sockets probe
"$LAB" --json sockets bench --ways plain,user,device,kernel,sendfile --bytes 8M --turns 1 \
  >/run/out/rows.json 2>/run/out/bench.log
echo "bench $?" >>/run/out/steps
"$LAB" --json sockets bench --ways user,device,kernel --sizes 4k --frames piecemeal --bytes 4M --turns 1 \
  >/run/out/pieces.json 2>/run/out/pieces.log
echo "pieces $?" >>/run/out/steps
# A limit below a record stops the kernel's TLS for ever. The ways have to say so and not try.
limited() {
  "$OARLOCK" sockets probe | busybox grep '^Warning: .*tcp_notsent_lowat is 16384' &&
    "$LAB" sockets bench --ways kernel,sendfile --bytes 1M --turns 1 |
    busybox grep '^sendfile is not here: .*tcp_notsent_lowat is 16384'
}
echo 16384 >/proc/sys/net/ipv4/tcp_notsent_lowat
step limit limited
echo 4294967295 >/proc/sys/net/ipv4/tcp_notsent_lowat
if busybox which strace >/dev/null; then
  step strace "$LAB_TESTS" the_counts_equal_those_of_strace --nocapture
fi
if busybox which curl >/dev/null; then
  busybox head -c 300000 "$OARLOCK" >/run/page
  "$SERVE_FILE" /run/page 127.0.0.1:8443 2 2>/run/out/example.log &
  example() {
    curl -sk --retry 20 --retry-connrefused --retry-delay 1 https://127.0.0.1:8443/ | busybox cmp - /run/page &&
      curl -sk --tls-max 1.2 https://127.0.0.1:8443/ | busybox cmp - /run/page &&
      ! busybox grep 'user space' /run/out/example.log
  }
  step curl example
fi
echo end 0 >>/run/out/steps
busybox sync
busybox poweroff -f
