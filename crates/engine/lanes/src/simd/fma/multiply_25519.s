# Made by `cargo xtask fields`: docs/math/fma-fields.md.
# rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for 6 vectors.
	mov %rdi, %rax
	mov $2, %r10d
1:
	vmovapd 64(%rdx), %ymm0
	vmulpd .Lmultiply_25519_0(%rip), %ymm0, %ymm0
	vmovapd %ymm0, 32(%rcx)
	vmovapd 128(%rdx), %ymm0
	vmulpd .Lmultiply_25519_0(%rip), %ymm0, %ymm0
	vmovapd %ymm0, 64(%rcx)
	vmovapd 192(%rdx), %ymm0
	vmulpd .Lmultiply_25519_0(%rip), %ymm0, %ymm0
	vmovapd %ymm0, 96(%rcx)
	vmovapd 256(%rdx), %ymm0
	vmulpd .Lmultiply_25519_0(%rip), %ymm0, %ymm0
	vmovapd %ymm0, 128(%rcx)
	vmovapd 320(%rdx), %ymm0
	vmulpd .Lmultiply_25519_0(%rip), %ymm0, %ymm0
	vmovapd %ymm0, 160(%rcx)
	vmovapd 0(%rsi), %ymm0
	vmovapd .Lmultiply_25519_1(%rip), %ymm1
	vfmadd231pd 0(%rdx), %ymm0, %ymm1
	vmovapd .Lmultiply_25519_1(%rip), %ymm2
	vsubpd %ymm1, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vmovapd .Lmultiply_25519_1(%rip), %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vmovapd .Lmultiply_25519_1(%rip), %ymm4
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vmovapd .Lmultiply_25519_1(%rip), %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vmovapd .Lmultiply_25519_1(%rip), %ymm6
	vsubpd %ymm5, %ymm6, %ymm6
	vfmadd231pd 128(%rdx), %ymm0, %ymm6
	vmovapd .Lmultiply_25519_1(%rip), %ymm7
	vfmadd231pd 192(%rdx), %ymm0, %ymm7
	vmovapd .Lmultiply_25519_1(%rip), %ymm8
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 192(%rdx), %ymm0, %ymm8
	vmovapd .Lmultiply_25519_1(%rip), %ymm9
	vfmadd231pd 256(%rdx), %ymm0, %ymm9
	vmovapd .Lmultiply_25519_1(%rip), %ymm10
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vmovapd .Lmultiply_25519_1(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd .Lmultiply_25519_1(%rip), %ymm12
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 320(%rdx), %ymm0, %ymm12
	vmovapd 64(%rsi), %ymm0
	vmovapd %ymm3, %ymm13
	vfmadd231pd 0(%rdx), %ymm0, %ymm13
	vsubpd %ymm13, %ymm3, %ymm3
	vfmadd231pd 0(%rdx), %ymm0, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 64(%rdx), %ymm0, %ymm5
	vaddpd %ymm5, %ymm6, %ymm5
	vmovapd %ymm7, %ymm6
	vfmadd231pd 128(%rdx), %ymm0, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 128(%rdx), %ymm0, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd %ymm9, %ymm8
	vfmadd231pd 192(%rdx), %ymm0, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 192(%rdx), %ymm0, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm11, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 256(%rdx), %ymm0, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vmovapd %ymm1, %ymm12
	vfmadd231pd 160(%rcx), %ymm0, %ymm12
	vsubpd %ymm12, %ymm1, %ymm1
	vfmadd231pd 160(%rcx), %ymm0, %ymm1
	vaddpd %ymm1, %ymm2, %ymm1
	vmovapd 128(%rsi), %ymm2
	vmovapd %ymm4, %ymm0
	vfmadd231pd 0(%rdx), %ymm2, %ymm0
	vsubpd %ymm0, %ymm4, %ymm4
	vfmadd231pd 0(%rdx), %ymm2, %ymm4
	vaddpd %ymm4, %ymm5, %ymm4
	vmovapd %ymm6, %ymm5
	vfmadd231pd 64(%rdx), %ymm2, %ymm5
	vsubpd %ymm5, %ymm6, %ymm6
	vfmadd231pd 64(%rdx), %ymm2, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm8, %ymm7
	vfmadd231pd 128(%rdx), %ymm2, %ymm7
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 128(%rdx), %ymm2, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd 192(%rdx), %ymm2, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd 192(%rdx), %ymm2, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd %ymm12, %ymm11
	vfmadd231pd 128(%rcx), %ymm2, %ymm11
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 128(%rcx), %ymm2, %ymm12
	vaddpd %ymm12, %ymm1, %ymm12
	vmovapd %ymm13, %ymm1
	vfmadd231pd 160(%rcx), %ymm2, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd 160(%rcx), %ymm2, %ymm13
	vaddpd %ymm13, %ymm3, %ymm13
	vmovapd 192(%rsi), %ymm3
	vmovapd %ymm5, %ymm2
	vfmadd231pd 0(%rdx), %ymm3, %ymm2
	vsubpd %ymm2, %ymm5, %ymm5
	vfmadd231pd 0(%rdx), %ymm3, %ymm5
	vaddpd %ymm5, %ymm6, %ymm5
	vmovapd %ymm7, %ymm6
	vfmadd231pd 64(%rdx), %ymm3, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 64(%rdx), %ymm3, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd %ymm9, %ymm8
	vfmadd231pd 128(%rdx), %ymm3, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 128(%rdx), %ymm3, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm11, %ymm10
	vfmadd231pd 96(%rcx), %ymm3, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 96(%rcx), %ymm3, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vmovapd %ymm1, %ymm12
	vfmadd231pd 128(%rcx), %ymm3, %ymm12
	vsubpd %ymm12, %ymm1, %ymm1
	vfmadd231pd 128(%rcx), %ymm3, %ymm1
	vaddpd %ymm1, %ymm13, %ymm1
	vmovapd %ymm0, %ymm13
	vfmadd231pd 160(%rcx), %ymm3, %ymm13
	vsubpd %ymm13, %ymm0, %ymm0
	vfmadd231pd 160(%rcx), %ymm3, %ymm0
	vaddpd %ymm0, %ymm4, %ymm0
	vmovapd 256(%rsi), %ymm4
	vmovapd %ymm6, %ymm3
	vfmadd231pd 0(%rdx), %ymm4, %ymm3
	vsubpd %ymm3, %ymm6, %ymm6
	vfmadd231pd 0(%rdx), %ymm4, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm8, %ymm7
	vfmadd231pd 64(%rdx), %ymm4, %ymm7
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 64(%rdx), %ymm4, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd 64(%rcx), %ymm4, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd 64(%rcx), %ymm4, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd %ymm12, %ymm11
	vfmadd231pd 96(%rcx), %ymm4, %ymm11
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 96(%rcx), %ymm4, %ymm12
	vaddpd %ymm12, %ymm1, %ymm12
	vmovapd %ymm13, %ymm1
	vfmadd231pd 128(%rcx), %ymm4, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd 128(%rcx), %ymm4, %ymm13
	vaddpd %ymm13, %ymm0, %ymm13
	vmovapd %ymm2, %ymm0
	vfmadd231pd 160(%rcx), %ymm4, %ymm0
	vsubpd %ymm0, %ymm2, %ymm2
	vfmadd231pd 160(%rcx), %ymm4, %ymm2
	vaddpd %ymm2, %ymm5, %ymm2
	vmovapd 320(%rsi), %ymm5
	vmovapd %ymm7, %ymm4
	vfmadd231pd 0(%rdx), %ymm5, %ymm4
	vsubpd %ymm4, %ymm7, %ymm7
	vfmadd231pd 0(%rdx), %ymm5, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd %ymm9, %ymm8
	vfmadd231pd 32(%rcx), %ymm5, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 32(%rcx), %ymm5, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm11, %ymm10
	vfmadd231pd 64(%rcx), %ymm5, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 64(%rcx), %ymm5, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vmovapd %ymm1, %ymm12
	vfmadd231pd 96(%rcx), %ymm5, %ymm12
	vsubpd %ymm12, %ymm1, %ymm1
	vfmadd231pd 96(%rcx), %ymm5, %ymm1
	vaddpd %ymm1, %ymm13, %ymm1
	vmovapd %ymm0, %ymm13
	vfmadd231pd 128(%rcx), %ymm5, %ymm13
	vsubpd %ymm13, %ymm0, %ymm0
	vfmadd231pd 128(%rcx), %ymm5, %ymm0
	vaddpd %ymm0, %ymm2, %ymm0
	vmovapd %ymm3, %ymm2
	vfmadd231pd 160(%rcx), %ymm5, %ymm2
	vsubpd %ymm2, %ymm3, %ymm3
	vfmadd231pd 160(%rcx), %ymm5, %ymm3
	vaddpd %ymm3, %ymm6, %ymm3
	vsubpd .Lmultiply_25519_1(%rip), %ymm4, %ymm4
	vsubpd .Lmultiply_25519_1(%rip), %ymm8, %ymm8
	vsubpd .Lmultiply_25519_1(%rip), %ymm10, %ymm10
	vsubpd .Lmultiply_25519_1(%rip), %ymm12, %ymm12
	vsubpd .Lmultiply_25519_1(%rip), %ymm13, %ymm13
	vsubpd .Lmultiply_25519_1(%rip), %ymm2, %ymm2
	vfmadd231pd .Lmultiply_25519_3(%rip), %ymm4, %ymm9
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm8, %ymm11
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm10, %ymm1
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm12, %ymm0
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm13, %ymm3
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm2, %ymm7
	vmovapd .Lmultiply_25519_5(%rip), %ymm2
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm9, %ymm2
	vmovapd .Lmultiply_25519_5(%rip), %ymm13
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm11, %ymm13
	vmovapd .Lmultiply_25519_5(%rip), %ymm12
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm1, %ymm12
	vmovapd .Lmultiply_25519_5(%rip), %ymm10
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm0, %ymm10
	vmovapd .Lmultiply_25519_5(%rip), %ymm8
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm3, %ymm8
	vmovapd .Lmultiply_25519_5(%rip), %ymm4
	vfmadd231pd .Lmultiply_25519_2(%rip), %ymm7, %ymm4
	vsubpd .Lmultiply_25519_5(%rip), %ymm2, %ymm2
	vsubpd .Lmultiply_25519_5(%rip), %ymm13, %ymm13
	vsubpd .Lmultiply_25519_5(%rip), %ymm12, %ymm12
	vsubpd .Lmultiply_25519_5(%rip), %ymm10, %ymm10
	vsubpd .Lmultiply_25519_5(%rip), %ymm8, %ymm8
	vsubpd .Lmultiply_25519_5(%rip), %ymm4, %ymm4
	vfnmadd231pd .Lmultiply_25519_4(%rip), %ymm2, %ymm9
	vfnmadd231pd .Lmultiply_25519_4(%rip), %ymm13, %ymm11
	vfnmadd231pd .Lmultiply_25519_4(%rip), %ymm12, %ymm1
	vfnmadd231pd .Lmultiply_25519_4(%rip), %ymm10, %ymm0
	vfnmadd231pd .Lmultiply_25519_4(%rip), %ymm8, %ymm3
	vfnmadd231pd .Lmultiply_25519_4(%rip), %ymm4, %ymm7
	vaddpd %ymm2, %ymm11, %ymm2
	vmovapd %ymm2, 64(%rdi)
	vaddpd %ymm13, %ymm1, %ymm13
	vmovapd %ymm13, 128(%rdi)
	vaddpd %ymm12, %ymm0, %ymm12
	vmovapd %ymm12, 192(%rdi)
	vaddpd %ymm10, %ymm3, %ymm10
	vmovapd %ymm10, 256(%rdi)
	vaddpd %ymm8, %ymm7, %ymm8
	vmovapd %ymm8, 320(%rdi)
	vfmadd231pd .Lmultiply_25519_0(%rip), %ymm4, %ymm9
	vmovapd %ymm9, 0(%rdi)
	add $32, %rdi
	add $32, %rsi
	add $32, %rdx
	add $32, %r8
	add $32, %r9
	dec %r10d
	jnz 1b
	ret
	.p2align 5
.Lmultiply_25519_0:
	.quad 0x4063000000000000, 0x4063000000000000, 0x4063000000000000, 0x4063000000000000
.Lmultiply_25519_1:
	.quad 0x4608000000000000, 0x4608000000000000, 0x4608000000000000, 0x4608000000000000
.Lmultiply_25519_2:
	.quad 0x3d40000000000000, 0x3d40000000000000, 0x3d40000000000000, 0x3d40000000000000
.Lmultiply_25519_3:
	.quad 0x3db3000000000000, 0x3db3000000000000, 0x3db3000000000000, 0x3db3000000000000
.Lmultiply_25519_4:
	.quad 0x42a0000000000000, 0x42a0000000000000, 0x42a0000000000000, 0x42a0000000000000
.Lmultiply_25519_5:
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
