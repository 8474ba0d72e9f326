# Made by `cargo xtask fields`: docs/math/fma-fields.md.
# rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for 5 vectors.
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
	vmovapd .Lmultiply_p256_0(%rip), %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vmovapd .Lmultiply_p256_0(%rip), %ymm6
	vsubpd %ymm5, %ymm6, %ymm6
	vfmadd231pd 128(%rdx), %ymm0, %ymm6
	vmovapd .Lmultiply_p256_0(%rip), %ymm7
	vfmadd231pd 192(%rdx), %ymm0, %ymm7
	vmovapd .Lmultiply_p256_0(%rip), %ymm8
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 192(%rdx), %ymm0, %ymm8
	vmovapd .Lmultiply_p256_0(%rip), %ymm9
	vfmadd231pd 256(%rdx), %ymm0, %ymm9
	vmovapd .Lmultiply_p256_0(%rip), %ymm10
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vmovapd .Lmultiply_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd .Lmultiply_p256_0(%rip), %ymm12
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 320(%rdx), %ymm0, %ymm12
	vmovapd .Lmultiply_p256_3(%rip), %ymm0
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm2, %ymm0
	vmovapd 64(%rsi), %ymm13
	vmovapd %ymm3, %ymm14
	vfmadd231pd 0(%rdx), %ymm13, %ymm14
	vsubpd %ymm14, %ymm3, %ymm3
	vfmadd231pd 0(%rdx), %ymm13, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 64(%rdx), %ymm13, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 64(%rdx), %ymm13, %ymm5
	vaddpd %ymm5, %ymm6, %ymm5
	vmovapd %ymm7, %ymm6
	vfmadd231pd 128(%rdx), %ymm13, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 128(%rdx), %ymm13, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd %ymm9, %ymm8
	vfmadd231pd 192(%rdx), %ymm13, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 192(%rdx), %ymm13, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm11, %ymm10
	vfmadd231pd 256(%rdx), %ymm13, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 256(%rdx), %ymm13, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vmovapd .Lmultiply_p256_0(%rip), %ymm12
	vfmadd231pd 320(%rdx), %ymm13, %ymm12
	vmovapd .Lmultiply_p256_0(%rip), %ymm15
	vsubpd %ymm12, %ymm15, %ymm15
	vfmadd231pd 320(%rdx), %ymm13, %ymm15
	vsubpd .Lmultiply_p256_3(%rip), %ymm0, %ymm0
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm0, %ymm2
	vmovapd %ymm8, %ymm13
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm2, %ymm13
	vsubpd %ymm13, %ymm8, %ymm8
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm2, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm2, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm2, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vsubpd .Lmultiply_p256_0(%rip), %ymm1, %ymm1
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm1, %ymm3
	vmovapd .Lmultiply_p256_3(%rip), %ymm1
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm3, %ymm1
	vmovapd 128(%rsi), %ymm11
	vmovapd %ymm2, 0(%rcx)
	vmovapd %ymm4, %ymm2
	vfmadd231pd 0(%rdx), %ymm11, %ymm2
	vsubpd %ymm2, %ymm4, %ymm4
	vfmadd231pd 0(%rdx), %ymm11, %ymm4
	vaddpd %ymm4, %ymm5, %ymm4
	vmovapd %ymm6, %ymm5
	vfmadd231pd 64(%rdx), %ymm11, %ymm5
	vsubpd %ymm5, %ymm6, %ymm6
	vfmadd231pd 64(%rdx), %ymm11, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm13, %ymm7
	vfmadd231pd 128(%rdx), %ymm11, %ymm7
	vsubpd %ymm7, %ymm13, %ymm13
	vfmadd231pd 128(%rdx), %ymm11, %ymm13
	vaddpd %ymm13, %ymm8, %ymm13
	vmovapd %ymm9, %ymm8
	vfmadd231pd 192(%rdx), %ymm11, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 192(%rdx), %ymm11, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm12, %ymm10
	vfmadd231pd 256(%rdx), %ymm11, %ymm10
	vsubpd %ymm10, %ymm12, %ymm12
	vfmadd231pd 256(%rdx), %ymm11, %ymm12
	vaddpd %ymm12, %ymm15, %ymm12
	vmovapd .Lmultiply_p256_0(%rip), %ymm15
	vfmadd231pd 320(%rdx), %ymm11, %ymm15
	vmovapd %ymm2, 32(%rcx)
	vmovapd .Lmultiply_p256_0(%rip), %ymm2
	vsubpd %ymm15, %ymm2, %ymm2
	vfmadd231pd 320(%rdx), %ymm11, %ymm2
	vsubpd .Lmultiply_p256_3(%rip), %ymm1, %ymm1
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm1, %ymm3
	vaddpd %ymm0, %ymm3, %ymm0
	vmovapd %ymm8, %ymm3
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm0, %ymm3
	vsubpd %ymm3, %ymm8, %ymm8
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm0, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm0, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm0, %ymm10
	vaddpd %ymm10, %ymm12, %ymm10
	vsubpd .Lmultiply_p256_0(%rip), %ymm14, %ymm14
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm14, %ymm4
	vmovapd 0(%rcx), %ymm14
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm14, %ymm4
	vmovapd .Lmultiply_p256_3(%rip), %ymm14
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm4, %ymm14
	vmovapd 192(%rsi), %ymm12
	vmovapd %ymm5, %ymm11
	vfmadd231pd 0(%rdx), %ymm12, %ymm11
	vsubpd %ymm11, %ymm5, %ymm5
	vfmadd231pd 0(%rdx), %ymm12, %ymm5
	vaddpd %ymm5, %ymm6, %ymm5
	vmovapd %ymm7, %ymm6
	vfmadd231pd 64(%rdx), %ymm12, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 64(%rdx), %ymm12, %ymm7
	vaddpd %ymm7, %ymm13, %ymm7
	vmovapd %ymm3, %ymm13
	vfmadd231pd 128(%rdx), %ymm12, %ymm13
	vsubpd %ymm13, %ymm3, %ymm3
	vfmadd231pd 128(%rdx), %ymm12, %ymm3
	vaddpd %ymm3, %ymm8, %ymm3
	vmovapd %ymm9, %ymm8
	vfmadd231pd 192(%rdx), %ymm12, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 192(%rdx), %ymm12, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm15, %ymm10
	vfmadd231pd 256(%rdx), %ymm12, %ymm10
	vsubpd %ymm10, %ymm15, %ymm15
	vfmadd231pd 256(%rdx), %ymm12, %ymm15
	vaddpd %ymm15, %ymm2, %ymm15
	vmovapd .Lmultiply_p256_0(%rip), %ymm2
	vfmadd231pd 320(%rdx), %ymm12, %ymm2
	vmovapd %ymm11, 64(%rcx)
	vmovapd .Lmultiply_p256_0(%rip), %ymm11
	vsubpd %ymm2, %ymm11, %ymm11
	vfmadd231pd 320(%rdx), %ymm12, %ymm11
	vsubpd .Lmultiply_p256_3(%rip), %ymm14, %ymm14
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm14, %ymm4
	vaddpd %ymm1, %ymm4, %ymm1
	vmovapd %ymm8, %ymm4
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm1, %ymm4
	vsubpd %ymm4, %ymm8, %ymm8
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm1, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm1, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm1, %ymm10
	vaddpd %ymm10, %ymm15, %ymm10
	vmovapd 32(%rcx), %ymm15
	vsubpd .Lmultiply_p256_0(%rip), %ymm15, %ymm15
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm15, %ymm5
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm0, %ymm5
	vmovapd .Lmultiply_p256_3(%rip), %ymm0
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm5, %ymm0
	vmovapd 256(%rsi), %ymm15
	vmovapd %ymm6, %ymm12
	vfmadd231pd 0(%rdx), %ymm15, %ymm12
	vsubpd %ymm12, %ymm6, %ymm6
	vfmadd231pd 0(%rdx), %ymm15, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm13, %ymm7
	vfmadd231pd 64(%rdx), %ymm15, %ymm7
	vsubpd %ymm7, %ymm13, %ymm13
	vfmadd231pd 64(%rdx), %ymm15, %ymm13
	vaddpd %ymm13, %ymm3, %ymm13
	vmovapd %ymm4, %ymm3
	vfmadd231pd 128(%rdx), %ymm15, %ymm3
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 128(%rdx), %ymm15, %ymm4
	vaddpd %ymm4, %ymm8, %ymm4
	vmovapd %ymm9, %ymm8
	vfmadd231pd 192(%rdx), %ymm15, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 192(%rdx), %ymm15, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm2, %ymm10
	vfmadd231pd 256(%rdx), %ymm15, %ymm10
	vsubpd %ymm10, %ymm2, %ymm2
	vfmadd231pd 256(%rdx), %ymm15, %ymm2
	vaddpd %ymm2, %ymm11, %ymm2
	vmovapd .Lmultiply_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm15, %ymm11
	vmovapd %ymm12, 96(%rcx)
	vmovapd .Lmultiply_p256_0(%rip), %ymm12
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 320(%rdx), %ymm15, %ymm12
	vsubpd .Lmultiply_p256_3(%rip), %ymm0, %ymm0
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm0, %ymm5
	vaddpd %ymm14, %ymm5, %ymm14
	vmovapd %ymm8, %ymm5
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm14, %ymm5
	vsubpd %ymm5, %ymm8, %ymm8
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm14, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm14, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm14, %ymm10
	vaddpd %ymm10, %ymm2, %ymm10
	vmovapd 64(%rcx), %ymm2
	vsubpd .Lmultiply_p256_0(%rip), %ymm2, %ymm2
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm2, %ymm6
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm1, %ymm6
	vmovapd .Lmultiply_p256_3(%rip), %ymm1
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm6, %ymm1
	vmovapd 320(%rsi), %ymm2
	vmovapd %ymm7, %ymm15
	vfmadd231pd 0(%rdx), %ymm2, %ymm15
	vsubpd %ymm15, %ymm7, %ymm7
	vfmadd231pd 0(%rdx), %ymm2, %ymm7
	vaddpd %ymm7, %ymm13, %ymm7
	vmovapd %ymm3, %ymm13
	vfmadd231pd 64(%rdx), %ymm2, %ymm13
	vsubpd %ymm13, %ymm3, %ymm3
	vfmadd231pd 64(%rdx), %ymm2, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 128(%rdx), %ymm2, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 128(%rdx), %ymm2, %ymm5
	vaddpd %ymm5, %ymm8, %ymm5
	vmovapd %ymm9, %ymm8
	vfmadd231pd 192(%rdx), %ymm2, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 192(%rdx), %ymm2, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm11, %ymm10
	vfmadd231pd 256(%rdx), %ymm2, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 256(%rdx), %ymm2, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vmovapd .Lmultiply_p256_0(%rip), %ymm12
	vfmadd231pd 320(%rdx), %ymm2, %ymm12
	vmovapd %ymm4, 128(%rcx)
	vmovapd .Lmultiply_p256_0(%rip), %ymm4
	vsubpd %ymm12, %ymm4, %ymm4
	vfmadd231pd 320(%rdx), %ymm2, %ymm4
	vsubpd .Lmultiply_p256_3(%rip), %ymm1, %ymm1
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm1, %ymm6
	vaddpd %ymm0, %ymm6, %ymm0
	vmovapd %ymm8, %ymm6
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm0, %ymm6
	vsubpd %ymm6, %ymm8, %ymm8
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm0, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm0, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm0, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd 96(%rcx), %ymm11
	vsubpd .Lmultiply_p256_0(%rip), %ymm11, %ymm11
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm11, %ymm7
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm14, %ymm7
	vmovapd .Lmultiply_p256_3(%rip), %ymm14
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm7, %ymm14
	vsubpd .Lmultiply_p256_3(%rip), %ymm14, %ymm14
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm14, %ymm7
	vaddpd %ymm1, %ymm7, %ymm1
	vmovapd %ymm9, %ymm7
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm1, %ymm7
	vsubpd %ymm7, %ymm9, %ymm9
	vfmadd231pd .Lmultiply_p256_5(%rip), %ymm1, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm12, %ymm10
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm1, %ymm10
	vsubpd %ymm10, %ymm12, %ymm12
	vfmadd231pd .Lmultiply_p256_6(%rip), %ymm1, %ymm12
	vaddpd %ymm12, %ymm4, %ymm12
	vsubpd .Lmultiply_p256_0(%rip), %ymm15, %ymm15
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm15, %ymm3
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm0, %ymm3
	vmovapd .Lmultiply_p256_3(%rip), %ymm0
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm3, %ymm0
	vsubpd .Lmultiply_p256_3(%rip), %ymm0, %ymm0
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm0, %ymm3
	vaddpd %ymm14, %ymm3, %ymm14
	vmovapd %ymm14, 0(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm13, %ymm13
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm13, %ymm5
	vfmadd231pd .Lmultiply_p256_4(%rip), %ymm1, %ymm5
	vmovapd .Lmultiply_p256_3(%rip), %ymm1
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm5, %ymm1
	vsubpd .Lmultiply_p256_3(%rip), %ymm1, %ymm1
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm1, %ymm5
	vaddpd %ymm0, %ymm5, %ymm0
	vmovapd %ymm0, 64(%rdi)
	vmovapd 128(%rcx), %ymm0
	vsubpd .Lmultiply_p256_0(%rip), %ymm0, %ymm0
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm0, %ymm8
	vmovapd .Lmultiply_p256_3(%rip), %ymm0
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm8, %ymm0
	vsubpd .Lmultiply_p256_3(%rip), %ymm0, %ymm0
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm0, %ymm8
	vaddpd %ymm1, %ymm8, %ymm1
	vmovapd %ymm1, 128(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm6, %ymm6
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm6, %ymm9
	vmovapd .Lmultiply_p256_3(%rip), %ymm6
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm9, %ymm6
	vsubpd .Lmultiply_p256_3(%rip), %ymm6, %ymm6
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm6, %ymm9
	vaddpd %ymm0, %ymm9, %ymm0
	vmovapd %ymm0, 192(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm7, %ymm7
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm7, %ymm12
	vmovapd .Lmultiply_p256_3(%rip), %ymm7
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm12, %ymm7
	vsubpd .Lmultiply_p256_3(%rip), %ymm7, %ymm7
	vfnmadd231pd .Lmultiply_p256_2(%rip), %ymm7, %ymm12
	vaddpd %ymm6, %ymm12, %ymm6
	vmovapd %ymm6, 256(%rdi)
	vsubpd .Lmultiply_p256_0(%rip), %ymm10, %ymm10
	vfmadd231pd .Lmultiply_p256_1(%rip), %ymm10, %ymm7
	vmovapd %ymm7, 320(%rdi)
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
