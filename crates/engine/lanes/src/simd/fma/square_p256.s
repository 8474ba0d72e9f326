# Made by `cargo xtask fields`: docs/math/fma-fields.md.
# rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for 6 vectors.
	mov %rdi, %rax
	mov $2, %r10d
1:
	vmovapd 0(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm1
	vmovapd 64(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm3
	vmovapd 128(%rsi), %ymm4
	vaddpd %ymm4, %ymm4, %ymm5
	vmovapd 192(%rsi), %ymm6
	vaddpd %ymm6, %ymm6, %ymm7
	vmovapd 256(%rsi), %ymm8
	vaddpd %ymm8, %ymm8, %ymm9
	vmovapd .Lsquare_p256_0(%rip), %ymm10
	vfmadd231pd 0(%rsi), %ymm0, %ymm10
	vmovapd .Lsquare_p256_0(%rip), %ymm11
	vsubpd %ymm10, %ymm11, %ymm11
	vfmadd231pd 0(%rsi), %ymm0, %ymm11
	vmovapd .Lsquare_p256_0(%rip), %ymm0
	vfmadd231pd 64(%rsi), %ymm1, %ymm0
	vmovapd .Lsquare_p256_0(%rip), %ymm12
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd 64(%rsi), %ymm1, %ymm12
	vmovapd .Lsquare_p256_0(%rip), %ymm13
	vfmadd231pd 128(%rsi), %ymm1, %ymm13
	vmovapd .Lsquare_p256_0(%rip), %ymm14
	vsubpd %ymm13, %ymm14, %ymm14
	vfmadd231pd 128(%rsi), %ymm1, %ymm14
	vmovapd .Lsquare_p256_0(%rip), %ymm15
	vfmadd231pd 192(%rsi), %ymm1, %ymm15
	vmovapd %ymm9, 0(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm9
	vsubpd %ymm15, %ymm9, %ymm9
	vfmadd231pd 192(%rsi), %ymm1, %ymm9
	vmovapd .Lsquare_p256_0(%rip), %ymm8
	vfmadd231pd 256(%rsi), %ymm1, %ymm8
	vmovapd %ymm7, 32(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm7
	vsubpd %ymm8, %ymm7, %ymm7
	vfmadd231pd 256(%rsi), %ymm1, %ymm7
	vmovapd .Lsquare_p256_0(%rip), %ymm6
	vfmadd231pd 320(%rsi), %ymm1, %ymm6
	vmovapd %ymm0, 64(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm0
	vsubpd %ymm6, %ymm0, %ymm0
	vfmadd231pd 320(%rsi), %ymm1, %ymm0
	vmovapd .Lsquare_p256_3(%rip), %ymm1
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm11, %ymm1
	vmovapd %ymm5, 96(%rcx)
	vmovapd %ymm13, %ymm5
	vfmadd231pd 64(%rsi), %ymm2, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd 64(%rsi), %ymm2, %ymm13
	vaddpd %ymm13, %ymm14, %ymm13
	vmovapd %ymm15, %ymm14
	vfmadd231pd 128(%rsi), %ymm3, %ymm14
	vsubpd %ymm14, %ymm15, %ymm15
	vfmadd231pd 128(%rsi), %ymm3, %ymm15
	vaddpd %ymm15, %ymm9, %ymm15
	vmovapd %ymm8, %ymm9
	vfmadd231pd 192(%rsi), %ymm3, %ymm9
	vsubpd %ymm9, %ymm8, %ymm8
	vfmadd231pd 192(%rsi), %ymm3, %ymm8
	vaddpd %ymm8, %ymm7, %ymm8
	vmovapd %ymm6, %ymm7
	vfmadd231pd 256(%rsi), %ymm3, %ymm7
	vsubpd %ymm7, %ymm6, %ymm6
	vfmadd231pd 256(%rsi), %ymm3, %ymm6
	vaddpd %ymm6, %ymm0, %ymm6
	vmovapd .Lsquare_p256_0(%rip), %ymm0
	vfmadd231pd 320(%rsi), %ymm3, %ymm0
	vmovapd .Lsquare_p256_0(%rip), %ymm2
	vsubpd %ymm0, %ymm2, %ymm2
	vfmadd231pd 320(%rsi), %ymm3, %ymm2
	vsubpd .Lsquare_p256_3(%rip), %ymm1, %ymm1
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm1, %ymm11
	vmovapd %ymm9, %ymm3
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm11, %ymm3
	vsubpd %ymm3, %ymm9, %ymm9
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm11, %ymm9
	vaddpd %ymm9, %ymm8, %ymm9
	vmovapd %ymm7, %ymm8
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm11, %ymm8
	vsubpd %ymm8, %ymm7, %ymm7
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm11, %ymm7
	vaddpd %ymm7, %ymm6, %ymm7
	vsubpd .Lsquare_p256_0(%rip), %ymm10, %ymm10
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm10, %ymm12
	vmovapd .Lsquare_p256_3(%rip), %ymm10
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm12, %ymm10
	vmovapd %ymm3, %ymm6
	vfmadd231pd 128(%rsi), %ymm4, %ymm6
	vsubpd %ymm6, %ymm3, %ymm3
	vfmadd231pd 128(%rsi), %ymm4, %ymm3
	vaddpd %ymm3, %ymm9, %ymm3
	vmovapd 96(%rcx), %ymm9
	vmovapd %ymm8, %ymm4
	vfmadd231pd 192(%rsi), %ymm9, %ymm4
	vsubpd %ymm4, %ymm8, %ymm8
	vfmadd231pd 192(%rsi), %ymm9, %ymm8
	vaddpd %ymm8, %ymm7, %ymm8
	vmovapd %ymm0, %ymm7
	vfmadd231pd 256(%rsi), %ymm9, %ymm7
	vsubpd %ymm7, %ymm0, %ymm0
	vfmadd231pd 256(%rsi), %ymm9, %ymm0
	vaddpd %ymm0, %ymm2, %ymm0
	vmovapd .Lsquare_p256_0(%rip), %ymm2
	vfmadd231pd 320(%rsi), %ymm9, %ymm2
	vmovapd %ymm6, 128(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm6
	vsubpd %ymm2, %ymm6, %ymm6
	vfmadd231pd 320(%rsi), %ymm9, %ymm6
	vsubpd .Lsquare_p256_3(%rip), %ymm10, %ymm10
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm10, %ymm12
	vaddpd %ymm1, %ymm12, %ymm1
	vmovapd %ymm4, %ymm12
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm1, %ymm12
	vsubpd %ymm12, %ymm4, %ymm4
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm1, %ymm4
	vaddpd %ymm4, %ymm8, %ymm4
	vmovapd %ymm7, %ymm8
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm1, %ymm8
	vsubpd %ymm8, %ymm7, %ymm7
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm1, %ymm7
	vaddpd %ymm7, %ymm0, %ymm7
	vmovapd 64(%rcx), %ymm0
	vsubpd .Lsquare_p256_0(%rip), %ymm0, %ymm0
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm0, %ymm13
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm11, %ymm13
	vmovapd .Lsquare_p256_3(%rip), %ymm11
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm13, %ymm11
	vmovapd 192(%rsi), %ymm0
	vmovapd %ymm8, %ymm9
	vfmadd231pd 192(%rsi), %ymm0, %ymm9
	vsubpd %ymm9, %ymm8, %ymm8
	vfmadd231pd 192(%rsi), %ymm0, %ymm8
	vaddpd %ymm8, %ymm7, %ymm8
	vmovapd 32(%rcx), %ymm7
	vmovapd %ymm2, %ymm0
	vfmadd231pd 256(%rsi), %ymm7, %ymm0
	vsubpd %ymm0, %ymm2, %ymm2
	vfmadd231pd 256(%rsi), %ymm7, %ymm2
	vaddpd %ymm2, %ymm6, %ymm2
	vmovapd .Lsquare_p256_0(%rip), %ymm6
	vfmadd231pd 320(%rsi), %ymm7, %ymm6
	vmovapd %ymm12, 160(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm12
	vsubpd %ymm6, %ymm12, %ymm12
	vfmadd231pd 320(%rsi), %ymm7, %ymm12
	vsubpd .Lsquare_p256_3(%rip), %ymm11, %ymm11
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm11, %ymm13
	vaddpd %ymm10, %ymm13, %ymm10
	vmovapd %ymm9, %ymm13
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm10, %ymm13
	vsubpd %ymm13, %ymm9, %ymm9
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm10, %ymm9
	vaddpd %ymm9, %ymm8, %ymm9
	vmovapd %ymm0, %ymm8
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm10, %ymm8
	vsubpd %ymm8, %ymm0, %ymm0
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm10, %ymm0
	vaddpd %ymm0, %ymm2, %ymm0
	vsubpd .Lsquare_p256_0(%rip), %ymm5, %ymm5
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm5, %ymm15
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm1, %ymm15
	vmovapd .Lsquare_p256_3(%rip), %ymm1
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm15, %ymm1
	vmovapd 256(%rsi), %ymm5
	vmovapd %ymm6, %ymm2
	vfmadd231pd 256(%rsi), %ymm5, %ymm2
	vsubpd %ymm2, %ymm6, %ymm6
	vfmadd231pd 256(%rsi), %ymm5, %ymm6
	vaddpd %ymm6, %ymm12, %ymm6
	vmovapd 0(%rcx), %ymm12
	vmovapd .Lsquare_p256_0(%rip), %ymm5
	vfmadd231pd 320(%rsi), %ymm12, %ymm5
	vmovapd .Lsquare_p256_0(%rip), %ymm7
	vsubpd %ymm5, %ymm7, %ymm7
	vfmadd231pd 320(%rsi), %ymm12, %ymm7
	vsubpd .Lsquare_p256_3(%rip), %ymm1, %ymm1
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm1, %ymm15
	vaddpd %ymm11, %ymm15, %ymm11
	vmovapd %ymm8, %ymm15
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm11, %ymm15
	vsubpd %ymm15, %ymm8, %ymm8
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm11, %ymm8
	vaddpd %ymm8, %ymm0, %ymm8
	vmovapd %ymm2, %ymm0
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm11, %ymm0
	vsubpd %ymm0, %ymm2, %ymm2
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm11, %ymm2
	vaddpd %ymm2, %ymm6, %ymm2
	vsubpd .Lsquare_p256_0(%rip), %ymm14, %ymm14
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm14, %ymm3
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm10, %ymm3
	vmovapd .Lsquare_p256_3(%rip), %ymm10
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm3, %ymm10
	vmovapd 320(%rsi), %ymm14
	vmovapd .Lsquare_p256_0(%rip), %ymm6
	vfmadd231pd 320(%rsi), %ymm14, %ymm6
	vmovapd .Lsquare_p256_0(%rip), %ymm12
	vsubpd %ymm6, %ymm12, %ymm12
	vfmadd231pd 320(%rsi), %ymm14, %ymm12
	vsubpd .Lsquare_p256_3(%rip), %ymm10, %ymm10
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm10, %ymm3
	vaddpd %ymm1, %ymm3, %ymm1
	vmovapd %ymm0, %ymm3
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm1, %ymm3
	vsubpd %ymm3, %ymm0, %ymm0
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm1, %ymm0
	vaddpd %ymm0, %ymm2, %ymm0
	vmovapd %ymm5, %ymm2
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm1, %ymm2
	vsubpd %ymm2, %ymm5, %ymm5
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm1, %ymm5
	vaddpd %ymm5, %ymm7, %ymm5
	vmovapd 128(%rcx), %ymm7
	vsubpd .Lsquare_p256_0(%rip), %ymm7, %ymm7
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm7, %ymm4
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm11, %ymm4
	vmovapd .Lsquare_p256_3(%rip), %ymm11
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm4, %ymm11
	vsubpd .Lsquare_p256_3(%rip), %ymm11, %ymm11
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm11, %ymm4
	vaddpd %ymm10, %ymm4, %ymm10
	vmovapd %ymm2, %ymm4
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm10, %ymm4
	vsubpd %ymm4, %ymm2, %ymm2
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm10, %ymm2
	vaddpd %ymm2, %ymm5, %ymm2
	vmovapd %ymm6, %ymm5
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm10, %ymm5
	vsubpd %ymm5, %ymm6, %ymm6
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm10, %ymm6
	vaddpd %ymm6, %ymm12, %ymm6
	vmovapd 160(%rcx), %ymm12
	vsubpd .Lsquare_p256_0(%rip), %ymm12, %ymm12
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm12, %ymm9
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm1, %ymm9
	vmovapd .Lsquare_p256_3(%rip), %ymm1
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm9, %ymm1
	vsubpd .Lsquare_p256_3(%rip), %ymm1, %ymm1
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm1, %ymm9
	vaddpd %ymm11, %ymm9, %ymm11
	vmovapd %ymm11, 0(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm13, %ymm13
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm13, %ymm8
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm10, %ymm8
	vmovapd .Lsquare_p256_3(%rip), %ymm10
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm8, %ymm10
	vsubpd .Lsquare_p256_3(%rip), %ymm10, %ymm10
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm10, %ymm8
	vaddpd %ymm1, %ymm8, %ymm1
	vmovapd %ymm1, 64(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm15, %ymm15
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm15, %ymm0
	vmovapd .Lsquare_p256_3(%rip), %ymm15
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm0, %ymm15
	vsubpd .Lsquare_p256_3(%rip), %ymm15, %ymm15
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm15, %ymm0
	vaddpd %ymm10, %ymm0, %ymm10
	vmovapd %ymm10, 128(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm3, %ymm3
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm3, %ymm2
	vmovapd .Lsquare_p256_3(%rip), %ymm3
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm2, %ymm3
	vsubpd .Lsquare_p256_3(%rip), %ymm3, %ymm3
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm3, %ymm2
	vaddpd %ymm15, %ymm2, %ymm15
	vmovapd %ymm15, 192(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm4, %ymm4
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm4, %ymm6
	vmovapd .Lsquare_p256_3(%rip), %ymm4
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm6, %ymm4
	vsubpd .Lsquare_p256_3(%rip), %ymm4, %ymm4
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm4, %ymm6
	vaddpd %ymm3, %ymm6, %ymm3
	vmovapd %ymm3, 256(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm5, %ymm5
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm5, %ymm4
	vmovapd %ymm4, 320(%rdi)
	add $32, %rdi
	add $32, %rsi
	add $32, %rdx
	add $32, %r8
	add $32, %r9
	dec %r10d
	jnz 1b
	ret
	.p2align 5
.Lsquare_p256_0:
	.quad 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000
.Lsquare_p256_1:
	.quad 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000
.Lsquare_p256_2:
	.quad 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000
.Lsquare_p256_3:
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
.Lsquare_p256_4:
	.quad 0x4070000000000000, 0x4070000000000000, 0x4070000000000000, 0x4070000000000000
.Lsquare_p256_5:
	.quad 0x40f0000000000000, 0x40f0000000000000, 0x40f0000000000000, 0x40f0000000000000
.Lsquare_p256_6:
	.quad 0x422fffffffe00000, 0x422fffffffe00000, 0x422fffffffe00000, 0x422fffffffe00000
