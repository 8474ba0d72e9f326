# Made by `cargo xtask fields`: docs/math/fma-fields.md.
# rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for 2 vectors.
	mov %rdi, %rax
	mov $2, %r10d
1:
	vmovapd 0(%rsi), %ymm0
	vmovapd .Lmultiply_p256_0(%rip), %ymm1
	vfmadd231pd 0(%rdx), %ymm0, %ymm1
	vmovapd .Lmultiply_p256_0(%rip), %ymm2
	vsubpd %ymm1, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vmovapd .Lmultiply_p256_0(%rip), %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vmovapd .Lmultiply_p256_0(%rip), %ymm4
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vmovapd 64(%rsi), %ymm5
	vmovapd %ymm3, %ymm6
	vfmadd231pd 0(%rdx), %ymm5, %ymm6
	vsubpd %ymm6, %ymm3, %ymm3
	vfmadd231pd 0(%rdx), %ymm5, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd .Lmultiply_p256_0(%rip), %ymm4
	vfmadd231pd 128(%rdx), %ymm0, %ymm4
	vmovapd .Lmultiply_p256_0(%rip), %ymm7
	vsubpd %ymm4, %ymm7, %ymm7
	vfmadd231pd 128(%rdx), %ymm0, %ymm7
	vmovapd %ymm4, %ymm8
	vfmadd231pd 64(%rdx), %ymm5, %ymm8
	vsubpd %ymm8, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm5, %ymm4
	vaddpd %ymm4, %ymm7, %ymm4
	vmovapd 128(%rsi), %ymm7
	vmovapd %ymm8, %ymm9
	vfmadd231pd 0(%rdx), %ymm7, %ymm9
	vsubpd %ymm9, %ymm8, %ymm8
	vfmadd231pd 0(%rdx), %ymm7, %ymm8
	vaddpd %ymm8, %ymm4, %ymm8
	vmovapd .Lmultiply_p256_0(%rip), %ymm4
	vfmadd231pd 192(%rdx), %ymm0, %ymm4
	vmovapd .Lmultiply_p256_0(%rip), %ymm10
	vsubpd %ymm4, %ymm10, %ymm10
	vfmadd231pd 192(%rdx), %ymm0, %ymm10
	vmovapd %ymm4, %ymm11
	vfmadd231pd 128(%rdx), %ymm5, %ymm11
	vsubpd %ymm11, %ymm4, %ymm4
	vfmadd231pd 128(%rdx), %ymm5, %ymm4
	vaddpd %ymm4, %ymm10, %ymm4
	vmovapd %ymm11, %ymm10
	vfmadd231pd 64(%rdx), %ymm7, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 64(%rdx), %ymm7, %ymm11
	vaddpd %ymm11, %ymm4, %ymm11
	vmovapd 192(%rsi), %ymm4
	vmovapd %ymm10, %ymm12
	vfmadd231pd 0(%rdx), %ymm4, %ymm12
	vsubpd %ymm12, %ymm10, %ymm10
	vfmadd231pd 0(%rdx), %ymm4, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd .Lmultiply_p256_3(%rip), %ymm11
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm2, %ymm11
	vsubpd .Lmultiply_p256_3(%rip), %ymm11, %ymm11
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm11, %ymm2
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm2, %ymm8
	vmovapd .Lmultiply_p256_0(%rip), %ymm13
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm2, %ymm13
	vmovapd .Lmultiply_p256_0(%rip), %ymm14
	vsubpd %ymm13, %ymm14, %ymm14
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm2, %ymm14
	vmovapd .Lmultiply_p256_0(%rip), %ymm15
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm2, %ymm15
	vmovapd %ymm12, 0(%rcx)
	vmovapd .Lmultiply_p256_0(%rip), %ymm12
	vsubpd %ymm15, %ymm12, %ymm12
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm2, %ymm12
	vmovapd %ymm13, %ymm2
	vfmadd231pd 256(%rdx), %ymm0, %ymm2
	vsubpd %ymm2, %ymm13, %ymm13
	vfmadd231pd 256(%rdx), %ymm0, %ymm13
	vaddpd %ymm13, %ymm14, %ymm13
	vmovapd %ymm2, %ymm14
	vfmadd231pd 192(%rdx), %ymm5, %ymm14
	vsubpd %ymm14, %ymm2, %ymm2
	vfmadd231pd 192(%rdx), %ymm5, %ymm2
	vaddpd %ymm2, %ymm13, %ymm2
	vmovapd %ymm14, %ymm13
	vfmadd231pd 128(%rdx), %ymm7, %ymm13
	vsubpd %ymm13, %ymm14, %ymm14
	vfmadd231pd 128(%rdx), %ymm7, %ymm14
	vaddpd %ymm14, %ymm2, %ymm14
	vmovapd %ymm13, %ymm2
	vfmadd231pd 64(%rdx), %ymm4, %ymm2
	vsubpd %ymm2, %ymm13, %ymm13
	vfmadd231pd 64(%rdx), %ymm4, %ymm13
	vaddpd %ymm13, %ymm14, %ymm13
	vmovapd 256(%rsi), %ymm14
	vmovapd %ymm9, 32(%rcx)
	vmovapd %ymm2, %ymm9
	vfmadd231pd 0(%rdx), %ymm14, %ymm9
	vsubpd %ymm9, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm14, %ymm2
	vaddpd %ymm2, %ymm13, %ymm2
	vsubpd .Lmultiply_p256_0(%rip), %ymm1, %ymm1
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm1, %ymm3
	vaddpd %ymm11, %ymm3, %ymm11
	vmovapd .Lmultiply_p256_3(%rip), %ymm3
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm11, %ymm3
	vsubpd .Lmultiply_p256_3(%rip), %ymm3, %ymm3
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm3, %ymm11
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm11, %ymm10
	vmovapd %ymm15, %ymm1
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm11, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm11, %ymm15
	vaddpd %ymm15, %ymm12, %ymm15
	vmovapd .Lmultiply_p256_0(%rip), %ymm12
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm11, %ymm12
	vmovapd .Lmultiply_p256_0(%rip), %ymm13
	vsubpd %ymm12, %ymm13, %ymm13
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm11, %ymm13
	vmovapd %ymm1, %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vsubpd %ymm11, %ymm1, %ymm1
	vfmadd231pd 320(%rdx), %ymm0, %ymm1
	vaddpd %ymm1, %ymm15, %ymm1
	vmovapd %ymm11, %ymm15
	vfmadd231pd 256(%rdx), %ymm5, %ymm15
	vsubpd %ymm15, %ymm11, %ymm11
	vfmadd231pd 256(%rdx), %ymm5, %ymm11
	vaddpd %ymm11, %ymm1, %ymm11
	vmovapd %ymm15, %ymm1
	vfmadd231pd 192(%rdx), %ymm7, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd 192(%rdx), %ymm7, %ymm15
	vaddpd %ymm15, %ymm11, %ymm15
	vmovapd %ymm1, %ymm11
	vfmadd231pd 128(%rdx), %ymm4, %ymm11
	vsubpd %ymm11, %ymm1, %ymm1
	vfmadd231pd 128(%rdx), %ymm4, %ymm1
	vaddpd %ymm1, %ymm15, %ymm1
	vmovapd %ymm11, %ymm15
	vfmadd231pd 64(%rdx), %ymm14, %ymm15
	vsubpd %ymm15, %ymm11, %ymm11
	vfmadd231pd 64(%rdx), %ymm14, %ymm11
	vaddpd %ymm11, %ymm1, %ymm11
	vmovapd 320(%rsi), %ymm1
	vmovapd %ymm15, %ymm0
	vfmadd231pd 0(%rdx), %ymm1, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd 0(%rdx), %ymm1, %ymm15
	vaddpd %ymm15, %ymm11, %ymm15
	vsubpd .Lmultiply_p256_0(%rip), %ymm6, %ymm6
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm6, %ymm8
	vaddpd %ymm3, %ymm8, %ymm3
	vmovapd .Lmultiply_p256_3(%rip), %ymm8
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm3, %ymm8
	vsubpd .Lmultiply_p256_3(%rip), %ymm8, %ymm8
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm8, %ymm3
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm3, %ymm2
	vmovapd %ymm12, %ymm6
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm3, %ymm6
	vsubpd %ymm6, %ymm12, %ymm12
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm3, %ymm12
	vaddpd %ymm12, %ymm13, %ymm12
	vmovapd .Lmultiply_p256_0(%rip), %ymm13
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm3, %ymm13
	vmovapd .Lmultiply_p256_0(%rip), %ymm11
	vsubpd %ymm13, %ymm11, %ymm11
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm3, %ymm11
	vmovapd %ymm6, %ymm3
	vfmadd231pd 320(%rdx), %ymm5, %ymm3
	vsubpd %ymm3, %ymm6, %ymm6
	vfmadd231pd 320(%rdx), %ymm5, %ymm6
	vaddpd %ymm6, %ymm12, %ymm6
	vmovapd %ymm3, %ymm12
	vfmadd231pd 256(%rdx), %ymm7, %ymm12
	vsubpd %ymm12, %ymm3, %ymm3
	vfmadd231pd 256(%rdx), %ymm7, %ymm3
	vaddpd %ymm3, %ymm6, %ymm3
	vmovapd %ymm12, %ymm6
	vfmadd231pd 192(%rdx), %ymm4, %ymm6
	vsubpd %ymm6, %ymm12, %ymm12
	vfmadd231pd 192(%rdx), %ymm4, %ymm12
	vaddpd %ymm12, %ymm3, %ymm12
	vmovapd %ymm6, %ymm3
	vfmadd231pd 128(%rdx), %ymm14, %ymm3
	vsubpd %ymm3, %ymm6, %ymm6
	vfmadd231pd 128(%rdx), %ymm14, %ymm6
	vaddpd %ymm6, %ymm12, %ymm6
	vmovapd %ymm3, %ymm12
	vfmadd231pd 64(%rdx), %ymm1, %ymm12
	vsubpd %ymm12, %ymm3, %ymm3
	vfmadd231pd 64(%rdx), %ymm1, %ymm3
	vaddpd %ymm3, %ymm6, %ymm3
	vmovapd 32(%rcx), %ymm6
	vsubpd .Lmultiply_p256_0(%rip), %ymm6, %ymm6
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm6, %ymm10
	vaddpd %ymm8, %ymm10, %ymm8
	vmovapd .Lmultiply_p256_3(%rip), %ymm10
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm8, %ymm10
	vsubpd .Lmultiply_p256_3(%rip), %ymm10, %ymm10
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm10, %ymm8
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm8, %ymm15
	vmovapd %ymm13, %ymm6
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm8, %ymm6
	vsubpd %ymm6, %ymm13, %ymm13
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm8, %ymm13
	vaddpd %ymm13, %ymm11, %ymm13
	vmovapd .Lmultiply_p256_0(%rip), %ymm11
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm8, %ymm11
	vmovapd .Lmultiply_p256_0(%rip), %ymm5
	vsubpd %ymm11, %ymm5, %ymm5
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm8, %ymm5
	vmovapd %ymm6, %ymm8
	vfmadd231pd 320(%rdx), %ymm7, %ymm8
	vsubpd %ymm8, %ymm6, %ymm6
	vfmadd231pd 320(%rdx), %ymm7, %ymm6
	vaddpd %ymm6, %ymm13, %ymm6
	vmovapd %ymm8, %ymm13
	vfmadd231pd 256(%rdx), %ymm4, %ymm13
	vsubpd %ymm13, %ymm8, %ymm8
	vfmadd231pd 256(%rdx), %ymm4, %ymm8
	vaddpd %ymm8, %ymm6, %ymm8
	vmovapd %ymm13, %ymm6
	vfmadd231pd 192(%rdx), %ymm14, %ymm6
	vsubpd %ymm6, %ymm13, %ymm13
	vfmadd231pd 192(%rdx), %ymm14, %ymm13
	vaddpd %ymm13, %ymm8, %ymm13
	vmovapd %ymm6, %ymm8
	vfmadd231pd 128(%rdx), %ymm1, %ymm8
	vsubpd %ymm8, %ymm6, %ymm6
	vfmadd231pd 128(%rdx), %ymm1, %ymm6
	vaddpd %ymm6, %ymm13, %ymm6
	vmovapd 0(%rcx), %ymm13
	vsubpd .Lmultiply_p256_0(%rip), %ymm13, %ymm13
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm13, %ymm2
	vaddpd %ymm10, %ymm2, %ymm10
	vmovapd .Lmultiply_p256_3(%rip), %ymm2
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm10, %ymm2
	vsubpd .Lmultiply_p256_3(%rip), %ymm2, %ymm2
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm2, %ymm10
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm10, %ymm3
	vmovapd %ymm11, %ymm13
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm10, %ymm13
	vsubpd %ymm13, %ymm11, %ymm11
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm10, %ymm11
	vaddpd %ymm11, %ymm5, %ymm11
	vmovapd .Lmultiply_p256_0(%rip), %ymm5
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm10, %ymm5
	vmovapd .Lmultiply_p256_0(%rip), %ymm7
	vsubpd %ymm5, %ymm7, %ymm7
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm10, %ymm7
	vmovapd %ymm13, %ymm10
	vfmadd231pd 320(%rdx), %ymm4, %ymm10
	vsubpd %ymm10, %ymm13, %ymm13
	vfmadd231pd 320(%rdx), %ymm4, %ymm13
	vaddpd %ymm13, %ymm11, %ymm13
	vmovapd %ymm10, %ymm11
	vfmadd231pd 256(%rdx), %ymm14, %ymm11
	vsubpd %ymm11, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm14, %ymm10
	vaddpd %ymm10, %ymm13, %ymm10
	vmovapd %ymm11, %ymm13
	vfmadd231pd 192(%rdx), %ymm1, %ymm13
	vsubpd %ymm13, %ymm11, %ymm11
	vfmadd231pd 192(%rdx), %ymm1, %ymm11
	vaddpd %ymm11, %ymm10, %ymm11
	vsubpd .Lmultiply_p256_0(%rip), %ymm9, %ymm9
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm9, %ymm15
	vaddpd %ymm2, %ymm15, %ymm2
	vmovapd .Lmultiply_p256_3(%rip), %ymm15
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm2, %ymm15
	vsubpd .Lmultiply_p256_3(%rip), %ymm15, %ymm15
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm15, %ymm2
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm2, %ymm6
	vmovapd %ymm5, %ymm9
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm2, %ymm9
	vsubpd %ymm9, %ymm5, %ymm5
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm2, %ymm5
	vaddpd %ymm5, %ymm7, %ymm5
	vmovapd .Lmultiply_p256_0(%rip), %ymm7
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm2, %ymm7
	vmovapd .Lmultiply_p256_0(%rip), %ymm10
	vsubpd %ymm7, %ymm10, %ymm10
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm2, %ymm10
	vmovapd %ymm9, %ymm2
	vfmadd231pd 320(%rdx), %ymm14, %ymm2
	vsubpd %ymm2, %ymm9, %ymm9
	vfmadd231pd 320(%rdx), %ymm14, %ymm9
	vaddpd %ymm9, %ymm5, %ymm9
	vmovapd %ymm2, %ymm5
	vfmadd231pd 256(%rdx), %ymm1, %ymm5
	vsubpd %ymm5, %ymm2, %ymm2
	vfmadd231pd 256(%rdx), %ymm1, %ymm2
	vaddpd %ymm2, %ymm9, %ymm2
	vmovapd %ymm7, %ymm9
	vfmadd231pd 320(%rdx), %ymm1, %ymm9
	vsubpd %ymm9, %ymm7, %ymm7
	vfmadd231pd 320(%rdx), %ymm1, %ymm7
	vaddpd %ymm7, %ymm10, %ymm7
	vsubpd .Lmultiply_p256_0(%rip), %ymm0, %ymm0
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm0, %ymm3
	vmovapd .Lmultiply_p256_3(%rip), %ymm0
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm3, %ymm0
	vsubpd .Lmultiply_p256_3(%rip), %ymm0, %ymm0
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm0, %ymm3
	vaddpd %ymm15, %ymm3, %ymm15
	vmovapd %ymm15, 0(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm12, %ymm12
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm12, %ymm6
	vmovapd .Lmultiply_p256_3(%rip), %ymm12
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm6, %ymm12
	vsubpd .Lmultiply_p256_3(%rip), %ymm12, %ymm12
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm12, %ymm6
	vaddpd %ymm0, %ymm6, %ymm0
	vmovapd %ymm0, 64(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm8, %ymm8
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm8, %ymm11
	vmovapd .Lmultiply_p256_3(%rip), %ymm8
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm11, %ymm8
	vsubpd .Lmultiply_p256_3(%rip), %ymm8, %ymm8
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm8, %ymm11
	vaddpd %ymm12, %ymm11, %ymm12
	vmovapd %ymm12, 128(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm13, %ymm13
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm13, %ymm2
	vmovapd .Lmultiply_p256_3(%rip), %ymm13
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm2, %ymm13
	vsubpd .Lmultiply_p256_3(%rip), %ymm13, %ymm13
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm13, %ymm2
	vaddpd %ymm8, %ymm2, %ymm8
	vmovapd %ymm8, 192(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm5, %ymm5
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm5, %ymm7
	vmovapd .Lmultiply_p256_3(%rip), %ymm5
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm7, %ymm5
	vsubpd .Lmultiply_p256_3(%rip), %ymm5, %ymm5
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm5, %ymm7
	vaddpd %ymm13, %ymm7, %ymm13
	vmovapd %ymm13, 256(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm9, %ymm9
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm9, %ymm5
	vmovapd %ymm5, 320(%rdi)
	add $32, %rdi
	add $32, %rsi
	add $32, %rdx
	add $32, %r8
	add $32, %r9
	dec %r10d
	jnz 1b
	ret
	.p2align 5
.Lmultiply_p256_0:
	.quad 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000
.Lmultiply_p256_1:
	.quad 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000
.Lmultiply_p256_2:
	.quad 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000
.Lmultiply_p256_3:
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
.Lmultiply_p256_4:
	.quad 0x4070000000000000, 0x4070000000000000, 0x4070000000000000, 0x4070000000000000
.Lmultiply_p256_5:
	.quad 0x40f0000000000000, 0x40f0000000000000, 0x40f0000000000000, 0x40f0000000000000
.Lmultiply_p256_6:
	.quad 0x422fffffffe00000, 0x422fffffffe00000, 0x422fffffffe00000, 0x422fffffffe00000
