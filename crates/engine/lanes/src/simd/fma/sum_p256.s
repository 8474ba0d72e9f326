# Made by `cargo xtask fields`: docs/math/fma-fields.md.
# rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for 13 vectors.
	mov %rdi, %rax
	mov $2, %r10d
1:
	vmovapd 0(%rsi), %ymm0
	vmovapd .Lsum_p256_0(%rip), %ymm1
	vfmadd231pd 0(%rdx), %ymm0, %ymm1
	vmovapd .Lsum_p256_0(%rip), %ymm2
	vsubpd %ymm1, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vmovapd .Lsum_p256_0(%rip), %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vmovapd .Lsum_p256_0(%rip), %ymm4
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vmovapd .Lsum_p256_0(%rip), %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vmovapd .Lsum_p256_0(%rip), %ymm6
	vsubpd %ymm5, %ymm6, %ymm6
	vfmadd231pd 128(%rdx), %ymm0, %ymm6
	vmovapd .Lsum_p256_0(%rip), %ymm7
	vfmadd231pd 192(%rdx), %ymm0, %ymm7
	vmovapd .Lsum_p256_0(%rip), %ymm8
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 192(%rdx), %ymm0, %ymm8
	vmovapd .Lsum_p256_0(%rip), %ymm9
	vfmadd231pd 256(%rdx), %ymm0, %ymm9
	vmovapd .Lsum_p256_0(%rip), %ymm10
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vmovapd .Lsum_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd .Lsum_p256_0(%rip), %ymm12
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 320(%rdx), %ymm0, %ymm12
	vmovapd 0(%r8), %ymm0
	vmovapd %ymm1, %ymm13
	vfmadd231pd 0(%r9), %ymm0, %ymm13
	vsubpd %ymm13, %ymm1, %ymm1
	vfmadd231pd 0(%r9), %ymm0, %ymm1
	vaddpd %ymm1, %ymm2, %ymm1
	vmovapd %ymm3, %ymm2
	vfmadd231pd 64(%r9), %ymm0, %ymm2
	vsubpd %ymm2, %ymm3, %ymm3
	vfmadd231pd 64(%r9), %ymm0, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 128(%r9), %ymm0, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 128(%r9), %ymm0, %ymm5
	vaddpd %ymm5, %ymm6, %ymm5
	vmovapd %ymm7, %ymm6
	vfmadd231pd 192(%r9), %ymm0, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 192(%r9), %ymm0, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd %ymm9, %ymm8
	vfmadd231pd 256(%r9), %ymm0, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 256(%r9), %ymm0, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm11, %ymm10
	vfmadd231pd 320(%r9), %ymm0, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 320(%r9), %ymm0, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vmovapd .Lsum_p256_3(%rip), %ymm12
	vfmadd231pd .Lsum_p256_1(%rip), %ymm1, %ymm12
	vmovapd 64(%rsi), %ymm0
	vmovapd %ymm2, %ymm14
	vfmadd231pd 0(%rdx), %ymm0, %ymm14
	vsubpd %ymm14, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vaddpd %ymm2, %ymm3, %ymm2
	vmovapd %ymm4, %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vaddpd %ymm4, %ymm5, %ymm4
	vmovapd %ymm6, %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vsubpd %ymm5, %ymm6, %ymm6
	vfmadd231pd 128(%rdx), %ymm0, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm8, %ymm7
	vfmadd231pd 192(%rdx), %ymm0, %ymm7
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 192(%rdx), %ymm0, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm10, %ymm9
	vfmadd231pd 256(%rdx), %ymm0, %ymm9
	vsubpd %ymm9, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd .Lsum_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd .Lsum_p256_0(%rip), %ymm15
	vsubpd %ymm11, %ymm15, %ymm15
	vfmadd231pd 320(%rdx), %ymm0, %ymm15
	vmovapd 64(%r8), %ymm0
	vmovapd %ymm13, 0(%rcx)
	vmovapd %ymm14, %ymm13
	vfmadd231pd 0(%r9), %ymm0, %ymm13
	vsubpd %ymm13, %ymm14, %ymm14
	vfmadd231pd 0(%r9), %ymm0, %ymm14
	vaddpd %ymm14, %ymm2, %ymm14
	vmovapd %ymm3, %ymm2
	vfmadd231pd 64(%r9), %ymm0, %ymm2
	vsubpd %ymm2, %ymm3, %ymm3
	vfmadd231pd 64(%r9), %ymm0, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 128(%r9), %ymm0, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 128(%r9), %ymm0, %ymm5
	vaddpd %ymm5, %ymm6, %ymm5
	vmovapd %ymm7, %ymm6
	vfmadd231pd 192(%r9), %ymm0, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 192(%r9), %ymm0, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd %ymm9, %ymm8
	vfmadd231pd 256(%r9), %ymm0, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 256(%r9), %ymm0, %ymm9
	vaddpd %ymm9, %ymm10, %ymm9
	vmovapd %ymm11, %ymm10
	vfmadd231pd 320(%r9), %ymm0, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 320(%r9), %ymm0, %ymm11
	vaddpd %ymm11, %ymm15, %ymm11
	vsubpd .Lsum_p256_3(%rip), %ymm12, %ymm12
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm12, %ymm1
	vmovapd %ymm6, %ymm15
	vfmadd231pd .Lsum_p256_5(%rip), %ymm1, %ymm15
	vsubpd %ymm15, %ymm6, %ymm6
	vfmadd231pd .Lsum_p256_5(%rip), %ymm1, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm8, %ymm7
	vfmadd231pd .Lsum_p256_6(%rip), %ymm1, %ymm7
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd .Lsum_p256_6(%rip), %ymm1, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd 0(%rcx), %ymm9
	vsubpd .Lsum_p256_0(%rip), %ymm9, %ymm9
	vfmadd231pd .Lsum_p256_1(%rip), %ymm9, %ymm14
	vmovapd .Lsum_p256_3(%rip), %ymm9
	vfmadd231pd .Lsum_p256_1(%rip), %ymm14, %ymm9
	vmovapd 128(%rsi), %ymm0
	vmovapd %ymm1, 32(%rcx)
	vmovapd %ymm2, %ymm1
	vfmadd231pd 0(%rdx), %ymm0, %ymm1
	vsubpd %ymm1, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vaddpd %ymm2, %ymm3, %ymm2
	vmovapd %ymm4, %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vaddpd %ymm4, %ymm5, %ymm4
	vmovapd %ymm15, %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 128(%rdx), %ymm0, %ymm15
	vaddpd %ymm15, %ymm6, %ymm15
	vmovapd %ymm7, %ymm6
	vfmadd231pd 192(%rdx), %ymm0, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 192(%rdx), %ymm0, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd %ymm10, %ymm8
	vfmadd231pd 256(%rdx), %ymm0, %ymm8
	vsubpd %ymm8, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd .Lsum_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd %ymm13, 64(%rcx)
	vmovapd .Lsum_p256_0(%rip), %ymm13
	vsubpd %ymm11, %ymm13, %ymm13
	vfmadd231pd 320(%rdx), %ymm0, %ymm13
	vmovapd 128(%r8), %ymm0
	vmovapd %ymm12, 96(%rcx)
	vmovapd %ymm1, %ymm12
	vfmadd231pd 0(%r9), %ymm0, %ymm12
	vsubpd %ymm12, %ymm1, %ymm1
	vfmadd231pd 0(%r9), %ymm0, %ymm1
	vaddpd %ymm1, %ymm2, %ymm1
	vmovapd %ymm3, %ymm2
	vfmadd231pd 64(%r9), %ymm0, %ymm2
	vsubpd %ymm2, %ymm3, %ymm3
	vfmadd231pd 64(%r9), %ymm0, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 128(%r9), %ymm0, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 128(%r9), %ymm0, %ymm5
	vaddpd %ymm5, %ymm15, %ymm5
	vmovapd %ymm6, %ymm15
	vfmadd231pd 192(%r9), %ymm0, %ymm15
	vsubpd %ymm15, %ymm6, %ymm6
	vfmadd231pd 192(%r9), %ymm0, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm8, %ymm7
	vfmadd231pd 256(%r9), %ymm0, %ymm7
	vsubpd %ymm7, %ymm8, %ymm8
	vfmadd231pd 256(%r9), %ymm0, %ymm8
	vaddpd %ymm8, %ymm10, %ymm8
	vmovapd %ymm11, %ymm10
	vfmadd231pd 320(%r9), %ymm0, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 320(%r9), %ymm0, %ymm11
	vaddpd %ymm11, %ymm13, %ymm11
	vsubpd .Lsum_p256_3(%rip), %ymm9, %ymm9
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm9, %ymm14
	vaddpd 96(%rcx), %ymm14, %ymm14
	vmovapd %ymm15, %ymm13
	vfmadd231pd .Lsum_p256_5(%rip), %ymm14, %ymm13
	vsubpd %ymm13, %ymm15, %ymm15
	vfmadd231pd .Lsum_p256_5(%rip), %ymm14, %ymm15
	vaddpd %ymm15, %ymm6, %ymm15
	vmovapd %ymm7, %ymm6
	vfmadd231pd .Lsum_p256_6(%rip), %ymm14, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd .Lsum_p256_6(%rip), %ymm14, %ymm7
	vaddpd %ymm7, %ymm8, %ymm7
	vmovapd 64(%rcx), %ymm8
	vsubpd .Lsum_p256_0(%rip), %ymm8, %ymm8
	vfmadd231pd .Lsum_p256_1(%rip), %ymm8, %ymm1
	vmovapd 32(%rcx), %ymm8
	vfmadd231pd .Lsum_p256_4(%rip), %ymm8, %ymm1
	vmovapd .Lsum_p256_3(%rip), %ymm8
	vfmadd231pd .Lsum_p256_1(%rip), %ymm1, %ymm8
	vmovapd 192(%rsi), %ymm0
	vmovapd %ymm14, 128(%rcx)
	vmovapd %ymm2, %ymm14
	vfmadd231pd 0(%rdx), %ymm0, %ymm14
	vsubpd %ymm14, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vaddpd %ymm2, %ymm3, %ymm2
	vmovapd %ymm4, %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vaddpd %ymm4, %ymm5, %ymm4
	vmovapd %ymm13, %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd 128(%rdx), %ymm0, %ymm13
	vaddpd %ymm13, %ymm15, %ymm13
	vmovapd %ymm6, %ymm15
	vfmadd231pd 192(%rdx), %ymm0, %ymm15
	vsubpd %ymm15, %ymm6, %ymm6
	vfmadd231pd 192(%rdx), %ymm0, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd %ymm10, %ymm7
	vfmadd231pd 256(%rdx), %ymm0, %ymm7
	vsubpd %ymm7, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd .Lsum_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd %ymm12, 160(%rcx)
	vmovapd .Lsum_p256_0(%rip), %ymm12
	vsubpd %ymm11, %ymm12, %ymm12
	vfmadd231pd 320(%rdx), %ymm0, %ymm12
	vmovapd 192(%r8), %ymm0
	vmovapd %ymm9, 192(%rcx)
	vmovapd %ymm14, %ymm9
	vfmadd231pd 0(%r9), %ymm0, %ymm9
	vsubpd %ymm9, %ymm14, %ymm14
	vfmadd231pd 0(%r9), %ymm0, %ymm14
	vaddpd %ymm14, %ymm2, %ymm14
	vmovapd %ymm3, %ymm2
	vfmadd231pd 64(%r9), %ymm0, %ymm2
	vsubpd %ymm2, %ymm3, %ymm3
	vfmadd231pd 64(%r9), %ymm0, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 128(%r9), %ymm0, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 128(%r9), %ymm0, %ymm5
	vaddpd %ymm5, %ymm13, %ymm5
	vmovapd %ymm15, %ymm13
	vfmadd231pd 192(%r9), %ymm0, %ymm13
	vsubpd %ymm13, %ymm15, %ymm15
	vfmadd231pd 192(%r9), %ymm0, %ymm15
	vaddpd %ymm15, %ymm6, %ymm15
	vmovapd %ymm7, %ymm6
	vfmadd231pd 256(%r9), %ymm0, %ymm6
	vsubpd %ymm6, %ymm7, %ymm7
	vfmadd231pd 256(%r9), %ymm0, %ymm7
	vaddpd %ymm7, %ymm10, %ymm7
	vmovapd %ymm11, %ymm10
	vfmadd231pd 320(%r9), %ymm0, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 320(%r9), %ymm0, %ymm11
	vaddpd %ymm11, %ymm12, %ymm11
	vsubpd .Lsum_p256_3(%rip), %ymm8, %ymm8
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm8, %ymm1
	vaddpd 192(%rcx), %ymm1, %ymm1
	vmovapd %ymm13, %ymm12
	vfmadd231pd .Lsum_p256_5(%rip), %ymm1, %ymm12
	vsubpd %ymm12, %ymm13, %ymm13
	vfmadd231pd .Lsum_p256_5(%rip), %ymm1, %ymm13
	vaddpd %ymm13, %ymm15, %ymm13
	vmovapd %ymm6, %ymm15
	vfmadd231pd .Lsum_p256_6(%rip), %ymm1, %ymm15
	vsubpd %ymm15, %ymm6, %ymm6
	vfmadd231pd .Lsum_p256_6(%rip), %ymm1, %ymm6
	vaddpd %ymm6, %ymm7, %ymm6
	vmovapd 160(%rcx), %ymm7
	vsubpd .Lsum_p256_0(%rip), %ymm7, %ymm7
	vfmadd231pd .Lsum_p256_1(%rip), %ymm7, %ymm14
	vmovapd 128(%rcx), %ymm7
	vfmadd231pd .Lsum_p256_4(%rip), %ymm7, %ymm14
	vmovapd .Lsum_p256_3(%rip), %ymm7
	vfmadd231pd .Lsum_p256_1(%rip), %ymm14, %ymm7
	vmovapd 256(%rsi), %ymm0
	vmovapd %ymm1, 224(%rcx)
	vmovapd %ymm2, %ymm1
	vfmadd231pd 0(%rdx), %ymm0, %ymm1
	vsubpd %ymm1, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vaddpd %ymm2, %ymm3, %ymm2
	vmovapd %ymm4, %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vaddpd %ymm4, %ymm5, %ymm4
	vmovapd %ymm12, %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vsubpd %ymm5, %ymm12, %ymm12
	vfmadd231pd 128(%rdx), %ymm0, %ymm12
	vaddpd %ymm12, %ymm13, %ymm12
	vmovapd %ymm15, %ymm13
	vfmadd231pd 192(%rdx), %ymm0, %ymm13
	vsubpd %ymm13, %ymm15, %ymm15
	vfmadd231pd 192(%rdx), %ymm0, %ymm15
	vaddpd %ymm15, %ymm6, %ymm15
	vmovapd %ymm10, %ymm6
	vfmadd231pd 256(%rdx), %ymm0, %ymm6
	vsubpd %ymm6, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd .Lsum_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd %ymm9, 256(%rcx)
	vmovapd .Lsum_p256_0(%rip), %ymm9
	vsubpd %ymm11, %ymm9, %ymm9
	vfmadd231pd 320(%rdx), %ymm0, %ymm9
	vmovapd 256(%r8), %ymm0
	vmovapd %ymm8, 288(%rcx)
	vmovapd %ymm1, %ymm8
	vfmadd231pd 0(%r9), %ymm0, %ymm8
	vsubpd %ymm8, %ymm1, %ymm1
	vfmadd231pd 0(%r9), %ymm0, %ymm1
	vaddpd %ymm1, %ymm2, %ymm1
	vmovapd %ymm3, %ymm2
	vfmadd231pd 64(%r9), %ymm0, %ymm2
	vsubpd %ymm2, %ymm3, %ymm3
	vfmadd231pd 64(%r9), %ymm0, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 128(%r9), %ymm0, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 128(%r9), %ymm0, %ymm5
	vaddpd %ymm5, %ymm12, %ymm5
	vmovapd %ymm13, %ymm12
	vfmadd231pd 192(%r9), %ymm0, %ymm12
	vsubpd %ymm12, %ymm13, %ymm13
	vfmadd231pd 192(%r9), %ymm0, %ymm13
	vaddpd %ymm13, %ymm15, %ymm13
	vmovapd %ymm6, %ymm15
	vfmadd231pd 256(%r9), %ymm0, %ymm15
	vsubpd %ymm15, %ymm6, %ymm6
	vfmadd231pd 256(%r9), %ymm0, %ymm6
	vaddpd %ymm6, %ymm10, %ymm6
	vmovapd %ymm11, %ymm10
	vfmadd231pd 320(%r9), %ymm0, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 320(%r9), %ymm0, %ymm11
	vaddpd %ymm11, %ymm9, %ymm11
	vsubpd .Lsum_p256_3(%rip), %ymm7, %ymm7
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm7, %ymm14
	vaddpd 288(%rcx), %ymm14, %ymm14
	vmovapd %ymm12, %ymm9
	vfmadd231pd .Lsum_p256_5(%rip), %ymm14, %ymm9
	vsubpd %ymm9, %ymm12, %ymm12
	vfmadd231pd .Lsum_p256_5(%rip), %ymm14, %ymm12
	vaddpd %ymm12, %ymm13, %ymm12
	vmovapd %ymm15, %ymm13
	vfmadd231pd .Lsum_p256_6(%rip), %ymm14, %ymm13
	vsubpd %ymm13, %ymm15, %ymm15
	vfmadd231pd .Lsum_p256_6(%rip), %ymm14, %ymm15
	vaddpd %ymm15, %ymm6, %ymm15
	vmovapd 256(%rcx), %ymm6
	vsubpd .Lsum_p256_0(%rip), %ymm6, %ymm6
	vfmadd231pd .Lsum_p256_1(%rip), %ymm6, %ymm1
	vmovapd 224(%rcx), %ymm6
	vfmadd231pd .Lsum_p256_4(%rip), %ymm6, %ymm1
	vmovapd .Lsum_p256_3(%rip), %ymm6
	vfmadd231pd .Lsum_p256_1(%rip), %ymm1, %ymm6
	vmovapd 320(%rsi), %ymm0
	vmovapd %ymm14, 320(%rcx)
	vmovapd %ymm2, %ymm14
	vfmadd231pd 0(%rdx), %ymm0, %ymm14
	vsubpd %ymm14, %ymm2, %ymm2
	vfmadd231pd 0(%rdx), %ymm0, %ymm2
	vaddpd %ymm2, %ymm3, %ymm2
	vmovapd %ymm4, %ymm3
	vfmadd231pd 64(%rdx), %ymm0, %ymm3
	vsubpd %ymm3, %ymm4, %ymm4
	vfmadd231pd 64(%rdx), %ymm0, %ymm4
	vaddpd %ymm4, %ymm5, %ymm4
	vmovapd %ymm9, %ymm5
	vfmadd231pd 128(%rdx), %ymm0, %ymm5
	vsubpd %ymm5, %ymm9, %ymm9
	vfmadd231pd 128(%rdx), %ymm0, %ymm9
	vaddpd %ymm9, %ymm12, %ymm9
	vmovapd %ymm13, %ymm12
	vfmadd231pd 192(%rdx), %ymm0, %ymm12
	vsubpd %ymm12, %ymm13, %ymm13
	vfmadd231pd 192(%rdx), %ymm0, %ymm13
	vaddpd %ymm13, %ymm15, %ymm13
	vmovapd %ymm10, %ymm15
	vfmadd231pd 256(%rdx), %ymm0, %ymm15
	vsubpd %ymm15, %ymm10, %ymm10
	vfmadd231pd 256(%rdx), %ymm0, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vmovapd .Lsum_p256_0(%rip), %ymm11
	vfmadd231pd 320(%rdx), %ymm0, %ymm11
	vmovapd %ymm8, 352(%rcx)
	vmovapd .Lsum_p256_0(%rip), %ymm8
	vsubpd %ymm11, %ymm8, %ymm8
	vfmadd231pd 320(%rdx), %ymm0, %ymm8
	vmovapd 320(%r8), %ymm0
	vmovapd %ymm7, 384(%rcx)
	vmovapd %ymm14, %ymm7
	vfmadd231pd 0(%r9), %ymm0, %ymm7
	vsubpd %ymm7, %ymm14, %ymm14
	vfmadd231pd 0(%r9), %ymm0, %ymm14
	vaddpd %ymm14, %ymm2, %ymm14
	vmovapd %ymm3, %ymm2
	vfmadd231pd 64(%r9), %ymm0, %ymm2
	vsubpd %ymm2, %ymm3, %ymm3
	vfmadd231pd 64(%r9), %ymm0, %ymm3
	vaddpd %ymm3, %ymm4, %ymm3
	vmovapd %ymm5, %ymm4
	vfmadd231pd 128(%r9), %ymm0, %ymm4
	vsubpd %ymm4, %ymm5, %ymm5
	vfmadd231pd 128(%r9), %ymm0, %ymm5
	vaddpd %ymm5, %ymm9, %ymm5
	vmovapd %ymm12, %ymm9
	vfmadd231pd 192(%r9), %ymm0, %ymm9
	vsubpd %ymm9, %ymm12, %ymm12
	vfmadd231pd 192(%r9), %ymm0, %ymm12
	vaddpd %ymm12, %ymm13, %ymm12
	vmovapd %ymm15, %ymm13
	vfmadd231pd 256(%r9), %ymm0, %ymm13
	vsubpd %ymm13, %ymm15, %ymm15
	vfmadd231pd 256(%r9), %ymm0, %ymm15
	vaddpd %ymm15, %ymm10, %ymm15
	vmovapd %ymm11, %ymm10
	vfmadd231pd 320(%r9), %ymm0, %ymm10
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 320(%r9), %ymm0, %ymm11
	vaddpd %ymm11, %ymm8, %ymm11
	vsubpd .Lsum_p256_3(%rip), %ymm6, %ymm6
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm6, %ymm1
	vaddpd 384(%rcx), %ymm1, %ymm1
	vmovapd %ymm9, %ymm8
	vfmadd231pd .Lsum_p256_5(%rip), %ymm1, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd .Lsum_p256_5(%rip), %ymm1, %ymm9
	vaddpd %ymm9, %ymm12, %ymm9
	vmovapd %ymm13, %ymm12
	vfmadd231pd .Lsum_p256_6(%rip), %ymm1, %ymm12
	vsubpd %ymm12, %ymm13, %ymm13
	vfmadd231pd .Lsum_p256_6(%rip), %ymm1, %ymm13
	vaddpd %ymm13, %ymm15, %ymm13
	vmovapd 352(%rcx), %ymm15
	vsubpd .Lsum_p256_0(%rip), %ymm15, %ymm15
	vfmadd231pd .Lsum_p256_1(%rip), %ymm15, %ymm14
	vmovapd 320(%rcx), %ymm15
	vfmadd231pd .Lsum_p256_4(%rip), %ymm15, %ymm14
	vmovapd .Lsum_p256_3(%rip), %ymm15
	vfmadd231pd .Lsum_p256_1(%rip), %ymm14, %ymm15
	vsubpd .Lsum_p256_3(%rip), %ymm15, %ymm15
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm15, %ymm14
	vaddpd %ymm6, %ymm14, %ymm6
	vmovapd %ymm12, %ymm14
	vfmadd231pd .Lsum_p256_5(%rip), %ymm6, %ymm14
	vsubpd %ymm14, %ymm12, %ymm12
	vfmadd231pd .Lsum_p256_5(%rip), %ymm6, %ymm12
	vaddpd %ymm12, %ymm13, %ymm12
	vmovapd %ymm10, %ymm13
	vfmadd231pd .Lsum_p256_6(%rip), %ymm6, %ymm13
	vsubpd %ymm13, %ymm10, %ymm10
	vfmadd231pd .Lsum_p256_6(%rip), %ymm6, %ymm10
	vaddpd %ymm10, %ymm11, %ymm10
	vsubpd .Lsum_p256_0(%rip), %ymm7, %ymm7
	vfmadd231pd .Lsum_p256_1(%rip), %ymm7, %ymm3
	vfmadd231pd .Lsum_p256_4(%rip), %ymm1, %ymm3
	vmovapd .Lsum_p256_3(%rip), %ymm1
	vfmadd231pd .Lsum_p256_1(%rip), %ymm3, %ymm1
	vsubpd .Lsum_p256_3(%rip), %ymm1, %ymm1
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm1, %ymm3
	vaddpd %ymm15, %ymm3, %ymm15
	vmovapd %ymm15, 0(%rdi)
	vsubpd .Lsum_p256_0(%rip), %ymm2, %ymm2
	vfmadd231pd .Lsum_p256_1(%rip), %ymm2, %ymm5
	vfmadd231pd .Lsum_p256_4(%rip), %ymm6, %ymm5
	vmovapd .Lsum_p256_3(%rip), %ymm6
	vfmadd231pd .Lsum_p256_1(%rip), %ymm5, %ymm6
	vsubpd .Lsum_p256_3(%rip), %ymm6, %ymm6
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm6, %ymm5
	vaddpd %ymm1, %ymm5, %ymm1
	vmovapd %ymm1, 64(%rdi)
	vsubpd .Lsum_p256_0(%rip), %ymm4, %ymm4
	vfmadd231pd .Lsum_p256_1(%rip), %ymm4, %ymm9
	vmovapd .Lsum_p256_3(%rip), %ymm4
	vfmadd231pd .Lsum_p256_1(%rip), %ymm9, %ymm4
	vsubpd .Lsum_p256_3(%rip), %ymm4, %ymm4
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm4, %ymm9
	vaddpd %ymm6, %ymm9, %ymm6
	vmovapd %ymm6, 128(%rdi)
	vsubpd .Lsum_p256_0(%rip), %ymm8, %ymm8
	vfmadd231pd .Lsum_p256_1(%rip), %ymm8, %ymm12
	vmovapd .Lsum_p256_3(%rip), %ymm8
	vfmadd231pd .Lsum_p256_1(%rip), %ymm12, %ymm8
	vsubpd .Lsum_p256_3(%rip), %ymm8, %ymm8
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm8, %ymm12
	vaddpd %ymm4, %ymm12, %ymm4
	vmovapd %ymm4, 192(%rdi)
	vsubpd .Lsum_p256_0(%rip), %ymm14, %ymm14
	vfmadd231pd .Lsum_p256_1(%rip), %ymm14, %ymm10
	vmovapd .Lsum_p256_3(%rip), %ymm14
	vfmadd231pd .Lsum_p256_1(%rip), %ymm10, %ymm14
	vsubpd .Lsum_p256_3(%rip), %ymm14, %ymm14
	vfnmadd231pd .Lsum_p256_2(%rip), %ymm14, %ymm10
	vaddpd %ymm8, %ymm10, %ymm8
	vmovapd %ymm8, 256(%rdi)
	vsubpd .Lsum_p256_0(%rip), %ymm13, %ymm13
	vfmadd231pd .Lsum_p256_1(%rip), %ymm13, %ymm14
	vmovapd %ymm14, 320(%rdi)
	add $32, %rdi
	add $32, %rsi
	add $32, %rdx
	add $32, %r8
	add $32, %r9
	dec %r10d
	jnz 1b
	ret
	.p2align 5
.Lsum_p256_0:
	.quad 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000
.Lsum_p256_1:
	.quad 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000
.Lsum_p256_2:
	.quad 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000
.Lsum_p256_3:
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
.Lsum_p256_4:
	.quad 0x4070000000000000, 0x4070000000000000, 0x4070000000000000, 0x4070000000000000
.Lsum_p256_5:
	.quad 0x40f0000000000000, 0x40f0000000000000, 0x40f0000000000000, 0x40f0000000000000
.Lsum_p256_6:
	.quad 0x422fffffffe00000, 0x422fffffffe00000, 0x422fffffffe00000, 0x422fffffffe00000
