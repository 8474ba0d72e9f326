//! The zones of the standards, without the records that signing adds.

/// RFC 4035 Appendix A.
pub(crate) const RFC_4035: &str = "\
$ORIGIN example.
$TTL 3600
@ SOA ns1 bugs.x.w 1081539377 3600 300 3600000 3600
@ NS ns1
@ NS ns2
@ MX 1 xx
a NS ns1.a
a NS ns2.a
a DS 57855 5 1 b6dcd485719adca18e5f3d48a2331627fdd3636b
ns1.a A 192.0.2.5
ns2.a A 192.0.2.6
ai A 192.0.2.9
ai HINFO \"KLH-10\" \"ITS\"
ai AAAA 2001:db8::f00:baa9
b NS ns1.b
b NS ns2.b
ns1.b A 192.0.2.7
ns2.b A 192.0.2.8
ns1 A 192.0.2.1
ns2 A 192.0.2.2
*.w MX 1 ai
x.w MX 1 xx
x.y.w MX 1 xx
xx A 192.0.2.10
xx HINFO \"KLH-10\" \"TOPS-20\"
xx AAAA 2001:db8::f00:baaa
";

/// RFC 5155 Appendix A.
pub(crate) const RFC_5155: &str = "\
$ORIGIN example.
$TTL 3600
@ SOA ns1 bugs.x.w 1 3600 300 3600000 3600
@ NS ns1
@ NS ns2
@ MX 1 xx
2t7b4g4vsa5smi47k61mv5bv1a22bojr A 192.0.2.127
a NS ns1.a
a NS ns2.a
a DS 58470 5 1 3079f1593ebad6dc121e202a8b766a6a4837206c
ns1.a A 192.0.2.5
ns2.a A 192.0.2.6
ai A 192.0.2.9
ai HINFO \"KLH-10\" \"ITS\"
ai AAAA 2001:db8::f00:baa9
c NS ns1.c
c NS ns2.c
ns1.c A 192.0.2.7
ns2.c A 192.0.2.8
ns1 A 192.0.2.1
ns2 A 192.0.2.2
*.w MX 1 ai
x.w MX 1 xx
x.y.w MX 1 xx
xx A 192.0.2.10
xx HINFO \"KLH-10\" \"TOPS-20\"
xx AAAA 2001:db8::f00:baaa
";
