# Made by `cargo xtask fields`: docs/math/fma-fields.md.
# rdi and at the end rax: the result; rsi, rdx, and r8, r9: the factors; rcx: memory for 4 vectors.
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
	vmovapd %ymm13, %ymm15
	vfmadd231pd 64(%rsi), %ymm2, %ymm15
	vsubpd %ymm15, %ymm13, %ymm13
	vfmadd231pd 64(%rsi), %ymm2, %ymm13
	vaddpd %ymm13, %ymm14, %ymm13
	vmovapd .Lsquare_p256_0(%rip), %ymm14
	vfmadd231pd 192(%rsi), %ymm1, %ymm14
	vmovapd .Lsquare_p256_0(%rip), %ymm2
	vsubpd %ymm14, %ymm2, %ymm2
	vfmadd231pd 192(%rsi), %ymm1, %ymm2
	vmovapd %ymm9, 0(%rcx)
	vmovapd %ymm14, %ymm9
	vfmadd231pd 128(%rsi), %ymm3, %ymm9
	vsubpd %ymm9, %ymm14, %ymm14
	vfmadd231pd 128(%rsi), %ymm3, %ymm14
	vaddpd %ymm14, %ymm2, %ymm14
	vmovapd .Lsquare_p256_3(%rip), %ymm2
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm11, %ymm2
	vsubpd .Lsquare_p256_3(%rip), %ymm2, %ymm2
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm2, %ymm11
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm11, %ymm13
	vmovapd .Lsquare_p256_0(%rip), %ymm8
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm11, %ymm8
	vmovapd %ymm9, 32(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm9
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm11, %ymm9
	vmovapd %ymm7, 64(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm7
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm11, %ymm7
	vmovapd %ymm15, 96(%rcx)
	vmovapd .Lsquare_p256_0(%rip), %ymm15
	vsubpd %ymm7, %ymm15, %ymm15
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm11, %ymm15
	vmovapd %ymm8, %ymm11
	vfmadd231pd 256(%rsi), %ymm1, %ymm11
	vsubpd %ymm11, %ymm8, %ymm8
	vfmadd231pd 256(%rsi), %ymm1, %ymm8
	vaddpd %ymm8, %ymm9, %ymm8
	vmovapd %ymm11, %ymm9
	vfmadd231pd 192(%rsi), %ymm3, %ymm9
	vsubpd %ymm9, %ymm11, %ymm11
	vfmadd231pd 192(%rsi), %ymm3, %ymm11
	vaddpd %ymm11, %ymm8, %ymm11
	vmovapd %ymm9, %ymm8
	vfmadd231pd 128(%rsi), %ymm4, %ymm8
	vsubpd %ymm8, %ymm9, %ymm9
	vfmadd231pd 128(%rsi), %ymm4, %ymm9
	vaddpd %ymm9, %ymm11, %ymm9
	vsubpd .Lsquare_p256_0(%rip), %ymm10, %ymm10
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm10, %ymm12
	vaddpd %ymm2, %ymm12, %ymm2
	vmovapd .Lsquare_p256_3(%rip), %ymm12
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm2, %ymm12
	vsubpd .Lsquare_p256_3(%rip), %ymm12, %ymm12
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm12, %ymm2
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm2, %ymm14
	vmovapd %ymm7, %ymm10
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm2, %ymm10
	vsubpd %ymm10, %ymm7, %ymm7
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm2, %ymm7
	vaddpd %ymm7, %ymm15, %ymm7
	vmovapd .Lsquare_p256_0(%rip), %ymm15
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm2, %ymm15
	vmovapd .Lsquare_p256_0(%rip), %ymm11
	vsubpd %ymm15, %ymm11, %ymm11
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm2, %ymm11
	vmovapd %ymm10, %ymm2
	vfmadd231pd 320(%rsi), %ymm1, %ymm2
	vsubpd %ymm2, %ymm10, %ymm10
	vfmadd231pd 320(%rsi), %ymm1, %ymm10
	vaddpd %ymm10, %ymm7, %ymm10
	vmovapd %ymm2, %ymm7
	vfmadd231pd 256(%rsi), %ymm3, %ymm7
	vsubpd %ymm7, %ymm2, %ymm2
	vfmadd231pd 256(%rsi), %ymm3, %ymm2
	vaddpd %ymm2, %ymm10, %ymm2
	vmovapd %ymm7, %ymm10
	vfmadd231pd 192(%rsi), %ymm5, %ymm10
	vsubpd %ymm10, %ymm7, %ymm7
	vfmadd231pd 192(%rsi), %ymm5, %ymm7
	vaddpd %ymm7, %ymm2, %ymm7
	vsubpd .Lsquare_p256_0(%rip), %ymm0, %ymm0
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm0, %ymm13
	vaddpd %ymm12, %ymm13, %ymm12
	vmovapd .Lsquare_p256_3(%rip), %ymm13
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm12, %ymm13
	vsubpd .Lsquare_p256_3(%rip), %ymm13, %ymm13
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm13, %ymm12
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm12, %ymm9
	vmovapd %ymm15, %ymm0
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm12, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm12, %ymm15
	vaddpd %ymm15, %ymm11, %ymm15
	vmovapd .Lsquare_p256_0(%rip), %ymm11
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm12, %ymm11
	vmovapd .Lsquare_p256_0(%rip), %ymm2
	vsubpd %ymm11, %ymm2, %ymm2
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm12, %ymm2
	vmovapd %ymm0, %ymm12
	vfmadd231pd 320(%rsi), %ymm3, %ymm12
	vsubpd %ymm12, %ymm0, %ymm0
	vfmadd231pd 320(%rsi), %ymm3, %ymm0
	vaddpd %ymm0, %ymm15, %ymm0
	vmovapd %ymm12, %ymm15
	vfmadd231pd 256(%rsi), %ymm5, %ymm15
	vsubpd %ymm15, %ymm12, %ymm12
	vfmadd231pd 256(%rsi), %ymm5, %ymm12
	vaddpd %ymm12, %ymm0, %ymm12
	vmovapd %ymm15, %ymm0
	vfmadd231pd 192(%rsi), %ymm6, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd 192(%rsi), %ymm6, %ymm15
	vaddpd %ymm15, %ymm12, %ymm15
	vmovapd 96(%rcx), %ymm12
	vsubpd .Lsquare_p256_0(%rip), %ymm12, %ymm12
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm12, %ymm14
	vaddpd %ymm13, %ymm14, %ymm13
	vmovapd .Lsquare_p256_3(%rip), %ymm14
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm13, %ymm14
	vsubpd .Lsquare_p256_3(%rip), %ymm14, %ymm14
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm14, %ymm13
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm13, %ymm7
	vmovapd %ymm11, %ymm12
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm13, %ymm12
	vsubpd %ymm12, %ymm11, %ymm11
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm13, %ymm11
	vaddpd %ymm11, %ymm2, %ymm11
	vmovapd .Lsquare_p256_0(%rip), %ymm2
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm13, %ymm2
	vmovapd .Lsquare_p256_0(%rip), %ymm6
	vsubpd %ymm2, %ymm6, %ymm6
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm13, %ymm6
	vmovapd %ymm12, %ymm13
	vfmadd231pd 320(%rsi), %ymm5, %ymm13
	vsubpd %ymm13, %ymm12, %ymm12
	vfmadd231pd 320(%rsi), %ymm5, %ymm12
	vaddpd %ymm12, %ymm11, %ymm12
	vmovapd 64(%rcx), %ymm11
	vmovapd %ymm13, %ymm5
	vfmadd231pd 256(%rsi), %ymm11, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd 256(%rsi), %ymm11, %ymm13
	vaddpd %ymm13, %ymm12, %ymm13
	vmovapd 32(%rcx), %ymm12
	vsubpd .Lsquare_p256_0(%rip), %ymm12, %ymm12
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm12, %ymm9
	vaddpd %ymm14, %ymm9, %ymm14
	vmovapd .Lsquare_p256_3(%rip), %ymm9
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm14, %ymm9
	vsubpd .Lsquare_p256_3(%rip), %ymm9, %ymm9
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm9, %ymm14
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm14, %ymm15
	vmovapd %ymm2, %ymm12
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm14, %ymm12
	vsubpd %ymm12, %ymm2, %ymm2
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm14, %ymm2
	vaddpd %ymm2, %ymm6, %ymm2
	vmovapd .Lsquare_p256_0(%rip), %ymm6
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm14, %ymm6
	vmovapd .Lsquare_p256_0(%rip), %ymm3
	vsubpd %ymm6, %ymm3, %ymm3
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm14, %ymm3
	vmovapd %ymm12, %ymm14
	vfmadd231pd 320(%rsi), %ymm11, %ymm14
	vsubpd %ymm14, %ymm12, %ymm12
	vfmadd231pd 320(%rsi), %ymm11, %ymm12
	vaddpd %ymm12, %ymm2, %ymm12
	vmovapd 256(%rsi), %ymm2
	vmovapd %ymm14, %ymm11
	vfmadd231pd 256(%rsi), %ymm2, %ymm11
	vsubpd %ymm11, %ymm14, %ymm14
	vfmadd231pd 256(%rsi), %ymm2, %ymm14
	vaddpd %ymm14, %ymm12, %ymm14
	vsubpd .Lsquare_p256_0(%rip), %ymm8, %ymm8
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm8, %ymm7
	vaddpd %ymm9, %ymm7, %ymm9
	vmovapd .Lsquare_p256_3(%rip), %ymm7
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm9, %ymm7
	vsubpd .Lsquare_p256_3(%rip), %ymm7, %ymm7
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm7, %ymm9
	vfmadd231pd .Lsquare_p256_4(%rip), %ymm9, %ymm13
	vmovapd %ymm6, %ymm8
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm9, %ymm8
	vsubpd %ymm8, %ymm6, %ymm6
	vfmadd231pd .Lsquare_p256_5(%rip), %ymm9, %ymm6
	vaddpd %ymm6, %ymm3, %ymm6
	vmovapd .Lsquare_p256_0(%rip), %ymm3
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm9, %ymm3
	vmovapd .Lsquare_p256_0(%rip), %ymm12
	vsubpd %ymm3, %ymm12, %ymm12
	vfmadd231pd .Lsquare_p256_6(%rip), %ymm9, %ymm12
	vmovapd 0(%rcx), %ymm9
	vmovapd %ymm8, %ymm2
	vfmadd231pd 320(%rsi), %ymm9, %ymm2
	vsubpd %ymm2, %ymm8, %ymm8
	vfmadd231pd 320(%rsi), %ymm9, %ymm8
	vaddpd %ymm8, %ymm6, %ymm8
	vmovapd 320(%rsi), %ymm6
	vmovapd %ymm3, %ymm9
	vfmadd231pd 320(%rsi), %ymm6, %ymm9
	vsubpd %ymm9, %ymm3, %ymm3
	vfmadd231pd 320(%rsi), %ymm6, %ymm3
	vaddpd %ymm3, %ymm12, %ymm3
	vsubpd .Lsquare_p256_0(%rip), %ymm10, %ymm10
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm10, %ymm15
	vmovapd .Lsquare_p256_3(%rip), %ymm10
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm15, %ymm10
	vsubpd .Lsquare_p256_3(%rip), %ymm10, %ymm10
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm10, %ymm15
	vaddpd %ymm7, %ymm15, %ymm7
	vmovapd %ymm7, 0(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm0, %ymm0
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm0, %ymm13
	vmovapd .Lsquare_p256_3(%rip), %ymm0
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm13, %ymm0
	vsubpd .Lsquare_p256_3(%rip), %ymm0, %ymm0
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm0, %ymm13
	vaddpd %ymm10, %ymm13, %ymm10
	vmovapd %ymm10, 64(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm5, %ymm5
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm5, %ymm14
	vmovapd .Lsquare_p256_3(%rip), %ymm5
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm14, %ymm5
	vsubpd .Lsquare_p256_3(%rip), %ymm5, %ymm5
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm5, %ymm14
	vaddpd %ymm0, %ymm14, %ymm0
	vmovapd %ymm0, 128(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm11, %ymm11
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm11, %ymm8
	vmovapd .Lsquare_p256_3(%rip), %ymm11
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm8, %ymm11
	vsubpd .Lsquare_p256_3(%rip), %ymm11, %ymm11
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm11, %ymm8
	vaddpd %ymm5, %ymm8, %ymm5
	vmovapd %ymm5, 192(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm2, %ymm2
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm2, %ymm3
	vmovapd .Lsquare_p256_3(%rip), %ymm2
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm3, %ymm2
	vsubpd .Lsquare_p256_3(%rip), %ymm2, %ymm2
	vfnmadd231pd .Lsquare_p256_2(%rip), %ymm2, %ymm3
	vaddpd %ymm11, %ymm3, %ymm11
	vmovapd %ymm11, 256(%rdi)
	vsubpd .Lsquare_p256_0(%rip), %ymm9, %ymm9
	vfmadd231pd .Lsquare_p256_1(%rip), %ymm9, %ymm2
	vmovapd %ymm2, 320(%rdi)
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
