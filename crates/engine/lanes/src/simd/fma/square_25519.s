# Made by `cargo xtask fields`: docs/math/fma-fields.md.
# rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for 6 vectors.
	mov %rdi, %rax
	mov $2, %r10d
1:
	vmovapd 64(%rsi), %ymm0
	vmulpd .Lsquare_25519_0(%rip), %ymm0, %ymm1
	vmovapd %ymm1, 32(%rcx)
	vmovapd 128(%rsi), %ymm1
	vmulpd .Lsquare_25519_0(%rip), %ymm1, %ymm2
	vmovapd %ymm2, 64(%rcx)
	vmovapd 192(%rsi), %ymm2
	vmulpd .Lsquare_25519_0(%rip), %ymm2, %ymm3
	vmovapd %ymm3, 96(%rcx)
	vmovapd 256(%rsi), %ymm3
	vmulpd .Lsquare_25519_0(%rip), %ymm3, %ymm4
	vmovapd %ymm4, 128(%rcx)
	vmovapd 320(%rsi), %ymm4
	vmulpd .Lsquare_25519_0(%rip), %ymm4, %ymm5
	vmovapd %ymm5, 160(%rcx)
	vmovapd 0(%rsi), %ymm5
	vaddpd %ymm5, %ymm5, %ymm6
	vmovapd .Lsquare_25519_1(%rip), %ymm7
	vfmadd231pd 0(%rsi), %ymm5, %ymm7
	vmovapd .Lsquare_25519_1(%rip), %ymm8
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 0(%rsi), %ymm5, %ymm8
	vmovapd .Lsquare_25519_1(%rip), %ymm5
	vfmadd231pd 64(%rsi), %ymm6, %ymm5
	vmovapd .Lsquare_25519_1(%rip), %ymm9
	vsubpd %ymm5, %ymm9, %ymm9
	vfmadd231pd 64(%rsi), %ymm6, %ymm9
	vmovapd .Lsquare_25519_1(%rip), %ymm10
	vfmadd231pd 128(%rsi), %ymm6, %ymm10
	vmovapd .Lsquare_25519_1(%rip), %ymm11
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 128(%rsi), %ymm6, %ymm11
	vmovapd .Lsquare_25519_1(%rip), %ymm12
	vfmadd231pd 192(%rsi), %ymm6, %ymm12
	vmovapd .Lsquare_25519_1(%rip), %ymm13
	vsubpd %ymm12, %ymm13, %ymm13
	vfmadd231pd 192(%rsi), %ymm6, %ymm13
	vmovapd .Lsquare_25519_1(%rip), %ymm14
	vfmadd231pd 256(%rsi), %ymm6, %ymm14
	vmovapd .Lsquare_25519_1(%rip), %ymm15
	vsubpd %ymm14, %ymm15, %ymm15
	vfmadd231pd 256(%rsi), %ymm6, %ymm15
	vmovapd .Lsquare_25519_1(%rip), %ymm4
	vfmadd231pd 320(%rsi), %ymm6, %ymm4
	vmovapd .Lsquare_25519_1(%rip), %ymm3
	vsubpd %ymm4, %ymm3, %ymm3
	vfmadd231pd 320(%rsi), %ymm6, %ymm3
	vaddpd %ymm0, %ymm0, %ymm6
	vmovapd %ymm10, %ymm2
	vfmadd231pd 64(%rsi), %ymm0, %ymm2
	vsubpd %ymm2, %ymm10, %ymm10
	vfmadd231pd 64(%rsi), %ymm0, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd %ymm12, %ymm11
	vfmadd231pd 128(%rsi), %ymm6, %ymm11
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 128(%rsi), %ymm6, %ymm12
	vaddpd %ymm12, %ymm13, %ymm12
	vmovapd %ymm14, %ymm13
	vfmadd231pd 192(%rsi), %ymm6, %ymm13
	vsubpd %ymm13, %ymm14, %ymm14
	vfmadd231pd 192(%rsi), %ymm6, %ymm14
	vaddpd %ymm14, %ymm15, %ymm14
	vmovapd %ymm4, %ymm15
	vfmadd231pd 256(%rsi), %ymm6, %ymm15
	vsubpd %ymm15, %ymm4, %ymm4
	vfmadd231pd 256(%rsi), %ymm6, %ymm4
	vaddpd %ymm4, %ymm3, %ymm4
	vmovapd %ymm7, %ymm3
	vfmadd231pd 160(%rcx), %ymm6, %ymm3
	vsubpd %ymm3, %ymm7, %ymm7
	vfmadd231pd 160(%rcx), %ymm6, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vaddpd %ymm1, %ymm1, %ymm8
	vmovapd %ymm13, %ymm6
	vfmadd231pd 128(%rsi), %ymm1, %ymm6
	vsubpd %ymm6, %ymm13, %ymm13
	vfmadd231pd 128(%rsi), %ymm1, %ymm13
	vaddpd %ymm13, %ymm14, %ymm13
	vmovapd %ymm15, %ymm14
	vfmadd231pd 192(%rsi), %ymm8, %ymm14
	vsubpd %ymm14, %ymm15, %ymm15
	vfmadd231pd 192(%rsi), %ymm8, %ymm15
	vaddpd %ymm15, %ymm4, %ymm15
	vmovapd %ymm3, %ymm4
	vfmadd231pd 128(%rcx), %ymm8, %ymm4
	vsubpd %ymm4, %ymm3, %ymm3
	vfmadd231pd 128(%rcx), %ymm8, %ymm3
	vaddpd %ymm3, %ymm7, %ymm3
	vmovapd %ymm5, %ymm7
	vfmadd231pd 160(%rcx), %ymm8, %ymm7
	vsubpd %ymm7, %ymm5, %ymm5
	vfmadd231pd 160(%rcx), %ymm8, %ymm5
	vaddpd %ymm5, %ymm9, %ymm5
	vmovapd 192(%rsi), %ymm9
	vaddpd %ymm9, %ymm9, %ymm8
	vmovapd %ymm4, %ymm1
	vfmadd231pd 96(%rcx), %ymm9, %ymm1
	vsubpd %ymm1, %ymm4, %ymm4
	vfmadd231pd 96(%rcx), %ymm9, %ymm4
	vaddpd %ymm4, %ymm3, %ymm4
	vmovapd %ymm7, %ymm3
	vfmadd231pd 128(%rcx), %ymm8, %ymm3
	vsubpd %ymm3, %ymm7, %ymm7
	vfmadd231pd 128(%rcx), %ymm8, %ymm7
	vaddpd %ymm7, %ymm5, %ymm7
	vmovapd %ymm2, %ymm5
	vfmadd231pd 160(%rcx), %ymm8, %ymm5
	vsubpd %ymm5, %ymm2, %ymm2
	vfmadd231pd 160(%rcx), %ymm8, %ymm2
	vaddpd %ymm2, %ymm10, %ymm2
	vmovapd 256(%rsi), %ymm10
	vaddpd %ymm10, %ymm10, %ymm8
	vmovapd %ymm5, %ymm9
	vfmadd231pd 128(%rcx), %ymm10, %ymm9
	vsubpd %ymm9, %ymm5, %ymm5
	vfmadd231pd 128(%rcx), %ymm10, %ymm5
	vaddpd %ymm5, %ymm2, %ymm5
	vmovapd %ymm11, %ymm2
	vfmadd231pd 160(%rcx), %ymm8, %ymm2
	vsubpd %ymm2, %ymm11, %ymm11
	vfmadd231pd 160(%rcx), %ymm8, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vmovapd 320(%rsi), %ymm12
	vmovapd %ymm6, %ymm8
	vfmadd231pd 160(%rcx), %ymm12, %ymm8
	vsubpd %ymm8, %ymm6, %ymm6
	vfmadd231pd 160(%rcx), %ymm12, %ymm6
	vaddpd %ymm6, %ymm13, %ymm6
	vsubpd .Lsquare_25519_1(%rip), %ymm14, %ymm14
	vsubpd .Lsquare_25519_1(%rip), %ymm1, %ymm1
	vsubpd .Lsquare_25519_1(%rip), %ymm3, %ymm3
	vsubpd .Lsquare_25519_1(%rip), %ymm9, %ymm9
	vsubpd .Lsquare_25519_1(%rip), %ymm2, %ymm2
	vsubpd .Lsquare_25519_1(%rip), %ymm8, %ymm8
	vfmadd231pd .Lsquare_25519_3(%rip), %ymm14, %ymm4
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm1, %ymm7
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm3, %ymm5
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm9, %ymm11
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm2, %ymm6
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm8, %ymm15
	vmovapd .Lsquare_25519_5(%rip), %ymm8
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm4, %ymm8
	vmovapd .Lsquare_25519_5(%rip), %ymm2
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm7, %ymm2
	vmovapd .Lsquare_25519_5(%rip), %ymm9
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm5, %ymm9
	vmovapd .Lsquare_25519_5(%rip), %ymm3
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm11, %ymm3
	vmovapd .Lsquare_25519_5(%rip), %ymm1
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm6, %ymm1
	vmovapd .Lsquare_25519_5(%rip), %ymm14
	vfmadd231pd .Lsquare_25519_2(%rip), %ymm15, %ymm14
	vsubpd .Lsquare_25519_5(%rip), %ymm8, %ymm8
	vsubpd .Lsquare_25519_5(%rip), %ymm2, %ymm2
	vsubpd .Lsquare_25519_5(%rip), %ymm9, %ymm9
	vsubpd .Lsquare_25519_5(%rip), %ymm3, %ymm3
	vsubpd .Lsquare_25519_5(%rip), %ymm1, %ymm1
	vsubpd .Lsquare_25519_5(%rip), %ymm14, %ymm14
	vfnmadd231pd .Lsquare_25519_4(%rip), %ymm8, %ymm4
	vfnmadd231pd .Lsquare_25519_4(%rip), %ymm2, %ymm7
	vfnmadd231pd .Lsquare_25519_4(%rip), %ymm9, %ymm5
	vfnmadd231pd .Lsquare_25519_4(%rip), %ymm3, %ymm11
	vfnmadd231pd .Lsquare_25519_4(%rip), %ymm1, %ymm6
	vfnmadd231pd .Lsquare_25519_4(%rip), %ymm14, %ymm15
	vaddpd %ymm8, %ymm7, %ymm8
	vmovapd %ymm8, 64(%rdi)
	vaddpd %ymm2, %ymm5, %ymm2
	vmovapd %ymm2, 128(%rdi)
	vaddpd %ymm9, %ymm11, %ymm9
	vmovapd %ymm9, 192(%rdi)
	vaddpd %ymm3, %ymm6, %ymm3
	vmovapd %ymm3, 256(%rdi)
	vaddpd %ymm1, %ymm15, %ymm1
	vmovapd %ymm1, 320(%rdi)
	vfmadd231pd .Lsquare_25519_0(%rip), %ymm14, %ymm4
	vmovapd %ymm4, 0(%rdi)
	add $32, %rdi
	add $32, %rsi
	add $32, %rdx
	add $32, %r8
	add $32, %r9
	dec %r10d
	jnz 1b
	ret
	.p2align 5
.Lsquare_25519_0:
	.quad 0x4063000000000000, 0x4063000000000000, 0x4063000000000000, 0x4063000000000000
.Lsquare_25519_1:
	.quad 0x4608000000000000, 0x4608000000000000, 0x4608000000000000, 0x4608000000000000
.Lsquare_25519_2:
	.quad 0x3d40000000000000, 0x3d40000000000000, 0x3d40000000000000, 0x3d40000000000000
.Lsquare_25519_3:
	.quad 0x3db3000000000000, 0x3db3000000000000, 0x3db3000000000000, 0x3db3000000000000
.Lsquare_25519_4:
	.quad 0x42a0000000000000, 0x42a0000000000000, 0x42a0000000000000, 0x42a0000000000000
.Lsquare_25519_5:
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
