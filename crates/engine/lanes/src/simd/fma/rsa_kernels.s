# Made by `cargo xtask fma`. Kernels of numbers in limbs of doubles: docs/math/fma.md.
# (result, a, b, modulus, inverse, scratch, kernel): square, product and look-up of each shape.
	mov 8(%rsp), %eax
	lea .Lfma_table(%rip), %r10
	movslq (%r10,%rax,4), %rax
	add %r10, %rax
	jmp *%rax
	.p2align 6
.Lfma_table:
	.long .Lfma_square_12 - .Lfma_table
	.long .Lfma_product_12 - .Lfma_table
	.long .Lfma_pick_12 - .Lfma_table
	.long .Lfma_square_21 - .Lfma_table
	.long .Lfma_product_21 - .Lfma_table
	.long .Lfma_pick_21 - .Lfma_table
	.long .Lfma_square_35 - .Lfma_table
	.long .Lfma_product_35 - .Lfma_table
	.long .Lfma_pick_35 - .Lfma_table
	.long .Lfma_square_45 - .Lfma_table
	.long .Lfma_product_45 - .Lfma_table
	.long .Lfma_pick_45 - .Lfma_table
	.long .Lfma_square_70 - .Lfma_table
	.long .Lfma_product_70 - .Lfma_table
	.long .Lfma_pick_70 - .Lfma_table
	.long .Lfma_square_91 - .Lfma_table
	.long .Lfma_product_91 - .Lfma_table
	.long .Lfma_pick_91 - .Lfma_table
	.p2align 6
.Lfma5_start:
	lea 32(%r14), %rdx
	vmovapd -128(%r14), %ymm0
	vxorpd %xmm5, %xmm5, %xmm5
	vmovapd %ymm0, %ymm1
	vxorpd %xmm6, %xmm6, %xmm6
	vmovapd %ymm0, %ymm2
	vxorpd %xmm7, %xmm7, %xmm7
	vmovapd %ymm0, %ymm3
	vxorpd %xmm8, %xmm8, %xmm8
	vmovapd %ymm0, %ymm4
	vxorpd %xmm9, %xmm9, %xmm9
	ret
	.p2align 6
.Lfma5_start_from:
	lea 32(%r14), %rdx
	vmovapd -128(%r14), %ymm0
	vmovapd 0(%r12), %ymm5
	vmovapd %ymm0, %ymm1
	vmovapd 32(%r12), %ymm6
	vmovapd %ymm0, %ymm2
	vmovapd 64(%r12), %ymm7
	vmovapd %ymm0, %ymm3
	vmovapd 96(%r12), %ymm8
	vmovapd %ymm0, %ymm4
	vmovapd 128(%r12), %ymm9
	add $160, %r12
	ret
	.p2align 6
.Lfma5_restart:
	vmovapd %ymm0, 64(%r9)
	vmovapd %ymm1, 96(%r9)
	vmovapd %ymm2, 128(%r9)
	vmovapd %ymm3, 160(%r9)
	vmovapd %ymm4, 192(%r9)
	vmovapd -96(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	lea 64(%r9), %rdx
	ret
	.p2align 6
.Lfma5_full:
	vmovapd (%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 96(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 128(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vfmadd231pd 64(%r11), %ymm10, %ymm13
	vfmadd231pd 96(%r11), %ymm10, %ymm14
	vfmadd231pd 128(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 32(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -32(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd (%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd 32(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 64(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 96(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm10, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm14
	vfmadd231pd 96(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 64(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -64(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -32(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd (%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 32(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm10, %ymm11
	vfmadd231pd -32(%r11), %ymm10, %ymm12
	vfmadd231pd (%r11), %ymm10, %ymm13
	vfmadd231pd 32(%r11), %ymm10, %ymm14
	vfmadd231pd 64(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 96(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -96(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -64(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd -32(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd (%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 32(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm10, %ymm11
	vfmadd231pd -64(%r11), %ymm10, %ymm12
	vfmadd231pd -32(%r11), %ymm10, %ymm13
	vfmadd231pd (%r11), %ymm10, %ymm14
	vfmadd231pd 32(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -128(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -96(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd -64(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd -32(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd (%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm10, %ymm11
	vfmadd231pd -96(%r11), %ymm10, %ymm12
	vfmadd231pd -64(%r11), %ymm10, %ymm13
	vfmadd231pd -32(%r11), %ymm10, %ymm14
	vfmadd231pd (%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	ret
	.p2align 6
.Lfma5_full_first:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm10
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm5
	vfmadd231pd (%r11), %ymm10, %ymm0
	vsubpd %ymm0, %ymm5, %ymm5
	vfmadd231pd (%r11), %ymm10, %ymm5
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm6
	vfmadd231pd 32(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm6, %ymm6
	vfmadd231pd 32(%r11), %ymm10, %ymm6
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm7
	vfmadd231pd 64(%r11), %ymm10, %ymm2
	vsubpd %ymm2, %ymm7, %ymm7
	vfmadd231pd 64(%r11), %ymm10, %ymm7
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm8
	vfmadd231pd 96(%r11), %ymm10, %ymm3
	vsubpd %ymm3, %ymm8, %ymm8
	vfmadd231pd 96(%r11), %ymm10, %ymm8
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm9
	vfmadd231pd 128(%r11), %ymm10, %ymm4
	vsubpd %ymm4, %ymm9, %ymm9
	vfmadd231pd 128(%r11), %ymm10, %ymm9
	vmovapd 32(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -32(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd (%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd 32(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 64(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 96(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm10, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm14
	vfmadd231pd 96(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 64(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -64(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -32(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd (%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 32(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm10, %ymm11
	vfmadd231pd -32(%r11), %ymm10, %ymm12
	vfmadd231pd (%r11), %ymm10, %ymm13
	vfmadd231pd 32(%r11), %ymm10, %ymm14
	vfmadd231pd 64(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 96(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -96(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -64(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd -32(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd (%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 32(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm10, %ymm11
	vfmadd231pd -64(%r11), %ymm10, %ymm12
	vfmadd231pd -32(%r11), %ymm10, %ymm13
	vfmadd231pd (%r11), %ymm10, %ymm14
	vfmadd231pd 32(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -128(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -96(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd -64(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd -32(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd (%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm10, %ymm11
	vfmadd231pd -96(%r11), %ymm10, %ymm12
	vfmadd231pd -64(%r11), %ymm10, %ymm13
	vfmadd231pd -32(%r11), %ymm10, %ymm14
	vfmadd231pd (%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	ret
	.p2align 6
.Lfma5_low:
	vmovapd (%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 96(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 128(%r11), %ymm10, %ymm4
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vfmadd231pd 64(%r11), %ymm10, %ymm13
	vfmadd231pd 96(%r11), %ymm10, %ymm14
	vfmadd231pd 128(%r11), %ymm10, %ymm15
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 32(%r10), %ymm10
	vmovapd %ymm1, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 96(%r11), %ymm10, %ymm4
	vsubpd %ymm1, %ymm11, %ymm11
	vsubpd %ymm2, %ymm12, %ymm12
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vfmadd231pd 64(%r11), %ymm10, %ymm13
	vfmadd231pd 96(%r11), %ymm10, %ymm14
	vaddpd %ymm11, %ymm6, %ymm6
	vaddpd %ymm12, %ymm7, %ymm7
	vaddpd %ymm13, %ymm8, %ymm8
	vaddpd %ymm14, %ymm9, %ymm9
	vmovapd 64(%r10), %ymm10
	vmovapd %ymm2, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm4
	vsubpd %ymm2, %ymm11, %ymm11
	vsubpd %ymm3, %ymm12, %ymm12
	vsubpd %ymm4, %ymm13, %ymm13
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vfmadd231pd 64(%r11), %ymm10, %ymm13
	vaddpd %ymm11, %ymm7, %ymm7
	vaddpd %ymm12, %ymm8, %ymm8
	vaddpd %ymm13, %ymm9, %ymm9
	vmovapd 96(%r10), %ymm10
	vmovapd %ymm3, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm4
	vsubpd %ymm3, %ymm11, %ymm11
	vsubpd %ymm4, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vaddpd %ymm11, %ymm8, %ymm8
	vaddpd %ymm12, %ymm9, %ymm9
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm4, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm4
	vsubpd %ymm4, %ymm11, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm11
	vaddpd %ymm11, %ymm9, %ymm9
	ret
	.p2align 6
.Lfma5_low_first:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm10
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm5
	vfmadd231pd (%r11), %ymm10, %ymm0
	vsubpd %ymm0, %ymm5, %ymm5
	vfmadd231pd (%r11), %ymm10, %ymm5
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm6
	vfmadd231pd 32(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm6, %ymm6
	vfmadd231pd 32(%r11), %ymm10, %ymm6
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm7
	vfmadd231pd 64(%r11), %ymm10, %ymm2
	vsubpd %ymm2, %ymm7, %ymm7
	vfmadd231pd 64(%r11), %ymm10, %ymm7
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm8
	vfmadd231pd 96(%r11), %ymm10, %ymm3
	vsubpd %ymm3, %ymm8, %ymm8
	vfmadd231pd 96(%r11), %ymm10, %ymm8
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm9
	vfmadd231pd 128(%r11), %ymm10, %ymm4
	vsubpd %ymm4, %ymm9, %ymm9
	vfmadd231pd 128(%r11), %ymm10, %ymm9
	vmovapd 32(%r10), %ymm10
	vmovapd %ymm1, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 96(%r11), %ymm10, %ymm4
	vsubpd %ymm1, %ymm11, %ymm11
	vsubpd %ymm2, %ymm12, %ymm12
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vfmadd231pd 64(%r11), %ymm10, %ymm13
	vfmadd231pd 96(%r11), %ymm10, %ymm14
	vaddpd %ymm11, %ymm6, %ymm6
	vaddpd %ymm12, %ymm7, %ymm7
	vaddpd %ymm13, %ymm8, %ymm8
	vaddpd %ymm14, %ymm9, %ymm9
	vmovapd 64(%r10), %ymm10
	vmovapd %ymm2, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm13
	vfmadd231pd 64(%r11), %ymm10, %ymm4
	vsubpd %ymm2, %ymm11, %ymm11
	vsubpd %ymm3, %ymm12, %ymm12
	vsubpd %ymm4, %ymm13, %ymm13
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vfmadd231pd 64(%r11), %ymm10, %ymm13
	vaddpd %ymm11, %ymm7, %ymm7
	vaddpd %ymm12, %ymm8, %ymm8
	vaddpd %ymm13, %ymm9, %ymm9
	vmovapd 96(%r10), %ymm10
	vmovapd %ymm3, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm12
	vfmadd231pd 32(%r11), %ymm10, %ymm4
	vsubpd %ymm3, %ymm11, %ymm11
	vsubpd %ymm4, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm10, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm12
	vaddpd %ymm11, %ymm8, %ymm8
	vaddpd %ymm12, %ymm9, %ymm9
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm4, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm4
	vsubpd %ymm4, %ymm11, %ymm11
	vfmadd231pd (%r11), %ymm10, %ymm11
	vaddpd %ymm11, %ymm9, %ymm9
	ret
	.p2align 6
.Lfma5_high:
	vmovapd 32(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -32(%r11), %ymm10, %ymm0
	vsubpd %ymm0, %ymm11, %ymm11
	vfmadd231pd -32(%r11), %ymm10, %ymm11
	vaddpd %ymm11, %ymm5, %ymm5
	vmovapd 64(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -64(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -32(%r11), %ymm10, %ymm1
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vfmadd231pd -64(%r11), %ymm10, %ymm11
	vfmadd231pd -32(%r11), %ymm10, %ymm12
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vmovapd 96(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -96(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -64(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd -32(%r11), %ymm10, %ymm2
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vfmadd231pd -96(%r11), %ymm10, %ymm11
	vfmadd231pd -64(%r11), %ymm10, %ymm12
	vfmadd231pd -32(%r11), %ymm10, %ymm13
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd -128(%r11), %ymm10, %ymm0
	vmovapd %ymm1, %ymm12
	vfmadd231pd -96(%r11), %ymm10, %ymm1
	vmovapd %ymm2, %ymm13
	vfmadd231pd -64(%r11), %ymm10, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd -32(%r11), %ymm10, %ymm3
	vsubpd %ymm0, %ymm11, %ymm11
	vsubpd %ymm1, %ymm12, %ymm12
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vfmadd231pd -128(%r11), %ymm10, %ymm11
	vfmadd231pd -96(%r11), %ymm10, %ymm12
	vfmadd231pd -64(%r11), %ymm10, %ymm13
	vfmadd231pd -32(%r11), %ymm10, %ymm14
	vaddpd %ymm11, %ymm5, %ymm5
	vaddpd %ymm12, %ymm6, %ymm6
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	ret
	.p2align 6
.Lfma5_square_low:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm10
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm6
	vfmadd231pd 32(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm6, %ymm6
	vfmadd231pd 32(%r11), %ymm10, %ymm6
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm7
	vfmadd231pd 64(%r11), %ymm10, %ymm2
	vsubpd %ymm2, %ymm7, %ymm7
	vfmadd231pd 64(%r11), %ymm10, %ymm7
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm8
	vfmadd231pd 96(%r11), %ymm10, %ymm3
	vsubpd %ymm3, %ymm8, %ymm8
	vfmadd231pd 96(%r11), %ymm10, %ymm8
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm9
	vfmadd231pd 128(%r11), %ymm10, %ymm4
	vsubpd %ymm4, %ymm9, %ymm9
	vfmadd231pd 128(%r11), %ymm10, %ymm9
	vmovapd (%r11), %ymm10
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm5
	vfmadd231pd (%r11), %ymm10, %ymm0
	vsubpd %ymm0, %ymm5, %ymm5
	vfmadd231pd (%r11), %ymm10, %ymm5
	vmovapd 32(%r10), %ymm10
	vmovapd %ymm3, %ymm11
	vfmadd231pd 64(%r11), %ymm10, %ymm3
	vmovapd %ymm4, %ymm12
	vfmadd231pd 96(%r11), %ymm10, %ymm4
	vsubpd %ymm3, %ymm11, %ymm11
	vsubpd %ymm4, %ymm12, %ymm12
	vfmadd231pd 64(%r11), %ymm10, %ymm11
	vfmadd231pd 96(%r11), %ymm10, %ymm12
	vaddpd %ymm11, %ymm8, %ymm8
	vaddpd %ymm12, %ymm9, %ymm9
	vmovapd 32(%r11), %ymm10
	vmovapd %ymm2, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm2
	vsubpd %ymm2, %ymm11, %ymm11
	vfmadd231pd 32(%r11), %ymm10, %ymm11
	vaddpd %ymm11, %ymm7, %ymm7
	vmovapd 64(%r11), %ymm10
	vmovapd %ymm4, %ymm11
	vfmadd231pd 64(%r11), %ymm10, %ymm4
	vsubpd %ymm4, %ymm11, %ymm11
	vfmadd231pd 64(%r11), %ymm10, %ymm11
	vaddpd %ymm11, %ymm9, %ymm9
	ret
	.p2align 6
.Lfma5_square_high:
	lea 32(%r14), %rdx
	vmovapd 32(%r10), %ymm10
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm5
	vfmadd231pd 128(%r11), %ymm10, %ymm0
	vsubpd %ymm0, %ymm5, %ymm5
	vfmadd231pd 128(%r11), %ymm10, %ymm5
	vmovapd 64(%r10), %ymm10
	vmovapd %ymm0, %ymm11
	vfmadd231pd 96(%r11), %ymm10, %ymm0
	vsubpd %ymm0, %ymm11, %ymm11
	vfmadd231pd 96(%r11), %ymm10, %ymm11
	vaddpd %ymm11, %ymm5, %ymm5
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm6
	vfmadd231pd 128(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm6, %ymm6
	vfmadd231pd 128(%r11), %ymm10, %ymm6
	vmovapd 96(%r10), %ymm10
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm7
	vfmadd231pd 128(%r11), %ymm10, %ymm2
	vsubpd %ymm2, %ymm7, %ymm7
	vfmadd231pd 128(%r11), %ymm10, %ymm7
	vmovapd 96(%r11), %ymm10
	vmovapd %ymm1, %ymm11
	vfmadd231pd 96(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm11, %ymm11
	vfmadd231pd 96(%r11), %ymm10, %ymm11
	vaddpd %ymm11, %ymm6, %ymm6
	vmovapd 128(%r11), %ymm10
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm8
	vfmadd231pd 128(%r11), %ymm10, %ymm3
	vsubpd %ymm3, %ymm8, %ymm8
	vfmadd231pd 128(%r11), %ymm10, %ymm8
	vmovapd -128(%r14), %ymm4
	vxorpd %xmm9, %xmm9, %xmm9
	ret
	.p2align 6
.Lfma5_finish:
	vmovapd (%r9), %ymm10
	vaddpd (%rdx), %ymm0, %ymm0
	vfmadd231pd -64(%r14), %ymm10, %ymm5
	vmulpd -64(%r14), %ymm5, %ymm10
	vroundpd $8, %ymm10, %ymm10
	vfnmadd231pd -32(%r14), %ymm10, %ymm5
	vaddpd 32(%r9), %ymm5, %ymm5
	vmovapd %ymm5, (%rbx)
	vaddpd 32(%rdx), %ymm1, %ymm1
	vfmadd231pd -64(%r14), %ymm0, %ymm6
	vmulpd -64(%r14), %ymm6, %ymm0
	vroundpd $8, %ymm0, %ymm0
	vfnmadd231pd -32(%r14), %ymm0, %ymm6
	vaddpd %ymm10, %ymm6, %ymm6
	vmovapd %ymm6, 32(%rbx)
	vaddpd 64(%rdx), %ymm2, %ymm2
	vfmadd231pd -64(%r14), %ymm1, %ymm7
	vmulpd -64(%r14), %ymm7, %ymm1
	vroundpd $8, %ymm1, %ymm1
	vfnmadd231pd -32(%r14), %ymm1, %ymm7
	vaddpd %ymm0, %ymm7, %ymm7
	vmovapd %ymm7, 64(%rbx)
	vaddpd 96(%rdx), %ymm3, %ymm3
	vfmadd231pd -64(%r14), %ymm2, %ymm8
	vmulpd -64(%r14), %ymm8, %ymm2
	vroundpd $8, %ymm2, %ymm2
	vfnmadd231pd -32(%r14), %ymm2, %ymm8
	vaddpd %ymm1, %ymm8, %ymm8
	vmovapd %ymm8, 96(%rbx)
	vaddpd 128(%rdx), %ymm4, %ymm4
	vfmadd231pd -64(%r14), %ymm3, %ymm9
	vmulpd -64(%r14), %ymm9, %ymm3
	vroundpd $8, %ymm3, %ymm3
	vfnmadd231pd -32(%r14), %ymm3, %ymm9
	vaddpd %ymm2, %ymm9, %ymm9
	vmovapd %ymm9, 128(%rbx)
	vmovapd %ymm4, (%r9)
	vmovapd %ymm3, 32(%r9)
	add $160, %rbx
	ret
	.p2align 6
.Lfma6_start:
	lea 32(%r14), %rdx
	vmovapd -128(%r14), %ymm0
	vxorpd %xmm6, %xmm6, %xmm6
	vmovapd %ymm0, %ymm1
	vxorpd %xmm7, %xmm7, %xmm7
	vmovapd %ymm0, %ymm2
	vxorpd %xmm8, %xmm8, %xmm8
	vmovapd %ymm0, %ymm3
	vxorpd %xmm9, %xmm9, %xmm9
	vmovapd %ymm0, %ymm4
	vxorpd %xmm10, %xmm10, %xmm10
	vmovapd %ymm0, %ymm5
	vxorpd %xmm11, %xmm11, %xmm11
	ret
	.p2align 6
.Lfma6_start_from:
	lea 32(%r14), %rdx
	vmovapd -128(%r14), %ymm0
	vmovapd 0(%r12), %ymm6
	vmovapd %ymm0, %ymm1
	vmovapd 32(%r12), %ymm7
	vmovapd %ymm0, %ymm2
	vmovapd 64(%r12), %ymm8
	vmovapd %ymm0, %ymm3
	vmovapd 96(%r12), %ymm9
	vmovapd %ymm0, %ymm4
	vmovapd 128(%r12), %ymm10
	vmovapd %ymm0, %ymm5
	vmovapd 160(%r12), %ymm11
	add $192, %r12
	ret
	.p2align 6
.Lfma6_restart:
	vmovapd %ymm0, 64(%r9)
	vmovapd %ymm1, 96(%r9)
	vmovapd %ymm2, 128(%r9)
	vmovapd %ymm3, 160(%r9)
	vmovapd %ymm4, 192(%r9)
	vmovapd %ymm5, 224(%r9)
	vmovapd -96(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	lea 64(%r9), %rdx
	ret
	.p2align 6
.Lfma6_full:
	vmovapd (%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 128(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 160(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm14
	vfmadd231pd 160(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 32(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd 32(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm12, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd 64(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 96(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm14
	vfmadd231pd 128(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 64(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm12, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 96(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm12, %ymm13
	vfmadd231pd 64(%r11), %ymm12, %ymm14
	vfmadd231pd 96(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 96(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -96(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -32(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm12, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 128(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -128(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -96(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -64(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm12, %ymm13
	vfmadd231pd -96(%r11), %ymm12, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 32(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm12, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 160(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -160(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -128(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -96(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm12, %ymm13
	vfmadd231pd -128(%r11), %ymm12, %ymm14
	vfmadd231pd -96(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm12, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	ret
	.p2align 6
.Lfma6_full_first:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm12
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm6
	vfmadd231pd (%r11), %ymm12, %ymm0
	vsubpd %ymm0, %ymm6, %ymm6
	vfmadd231pd (%r11), %ymm12, %ymm6
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm7
	vfmadd231pd 32(%r11), %ymm12, %ymm1
	vsubpd %ymm1, %ymm7, %ymm7
	vfmadd231pd 32(%r11), %ymm12, %ymm7
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm8
	vfmadd231pd 64(%r11), %ymm12, %ymm2
	vsubpd %ymm2, %ymm8, %ymm8
	vfmadd231pd 64(%r11), %ymm12, %ymm8
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm9
	vfmadd231pd 96(%r11), %ymm12, %ymm3
	vsubpd %ymm3, %ymm9, %ymm9
	vfmadd231pd 96(%r11), %ymm12, %ymm9
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm10
	vfmadd231pd 128(%r11), %ymm12, %ymm4
	vsubpd %ymm4, %ymm10, %ymm10
	vfmadd231pd 128(%r11), %ymm12, %ymm10
	vmovapd -128(%r14), %ymm5
	vmovapd %ymm5, %ymm11
	vfmadd231pd 160(%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm11, %ymm11
	vfmadd231pd 160(%r11), %ymm12, %ymm11
	vmovapd 32(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd 32(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm12, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd 64(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 96(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm14
	vfmadd231pd 128(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 64(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm12, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 96(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm12, %ymm13
	vfmadd231pd 64(%r11), %ymm12, %ymm14
	vfmadd231pd 96(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 96(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -96(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -32(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm12, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 128(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -128(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -96(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -64(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm12, %ymm13
	vfmadd231pd -96(%r11), %ymm12, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 32(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm12, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 160(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -160(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -128(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -96(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm12, %ymm13
	vfmadd231pd -128(%r11), %ymm12, %ymm14
	vfmadd231pd -96(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm12, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	ret
	.p2align 6
.Lfma6_low:
	vmovapd (%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 128(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 160(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm14
	vfmadd231pd 160(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 32(%r10), %ymm12
	vmovapd %ymm1, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm2
	vmovapd %ymm3, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm3
	vsubpd %ymm1, %ymm13, %ymm13
	vsubpd %ymm2, %ymm14, %ymm14
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm4, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm14
	vfmadd231pd 128(%r11), %ymm12, %ymm5
	vsubpd %ymm4, %ymm13, %ymm13
	vsubpd %ymm5, %ymm14, %ymm14
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm14
	vaddpd %ymm13, %ymm10, %ymm10
	vaddpd %ymm14, %ymm11, %ymm11
	vmovapd 64(%r10), %ymm12
	vmovapd %ymm2, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm4
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm8, %ymm8
	vaddpd %ymm14, %ymm9, %ymm9
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm5, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm11, %ymm11
	vmovapd 96(%r10), %ymm12
	vmovapd %ymm3, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 128(%r10), %ymm12
	vmovapd %ymm4, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm5
	vsubpd %ymm4, %ymm13, %ymm13
	vsubpd %ymm5, %ymm14, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vaddpd %ymm13, %ymm10, %ymm10
	vaddpd %ymm14, %ymm11, %ymm11
	vmovapd 160(%r10), %ymm12
	vmovapd %ymm5, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm11, %ymm11
	ret
	.p2align 6
.Lfma6_low_first:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm12
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm6
	vfmadd231pd (%r11), %ymm12, %ymm0
	vsubpd %ymm0, %ymm6, %ymm6
	vfmadd231pd (%r11), %ymm12, %ymm6
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm7
	vfmadd231pd 32(%r11), %ymm12, %ymm1
	vsubpd %ymm1, %ymm7, %ymm7
	vfmadd231pd 32(%r11), %ymm12, %ymm7
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm8
	vfmadd231pd 64(%r11), %ymm12, %ymm2
	vsubpd %ymm2, %ymm8, %ymm8
	vfmadd231pd 64(%r11), %ymm12, %ymm8
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm9
	vfmadd231pd 96(%r11), %ymm12, %ymm3
	vsubpd %ymm3, %ymm9, %ymm9
	vfmadd231pd 96(%r11), %ymm12, %ymm9
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm10
	vfmadd231pd 128(%r11), %ymm12, %ymm4
	vsubpd %ymm4, %ymm10, %ymm10
	vfmadd231pd 128(%r11), %ymm12, %ymm10
	vmovapd -128(%r14), %ymm5
	vmovapd %ymm5, %ymm11
	vfmadd231pd 160(%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm11, %ymm11
	vfmadd231pd 160(%r11), %ymm12, %ymm11
	vmovapd 32(%r10), %ymm12
	vmovapd %ymm1, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm2
	vmovapd %ymm3, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm3
	vsubpd %ymm1, %ymm13, %ymm13
	vsubpd %ymm2, %ymm14, %ymm14
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm7, %ymm7
	vaddpd %ymm14, %ymm8, %ymm8
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm4, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm14
	vfmadd231pd 128(%r11), %ymm12, %ymm5
	vsubpd %ymm4, %ymm13, %ymm13
	vsubpd %ymm5, %ymm14, %ymm14
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm14
	vaddpd %ymm13, %ymm10, %ymm10
	vaddpd %ymm14, %ymm11, %ymm11
	vmovapd 64(%r10), %ymm12
	vmovapd %ymm2, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm2
	vmovapd %ymm3, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm4
	vsubpd %ymm2, %ymm13, %ymm13
	vsubpd %ymm3, %ymm14, %ymm14
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm8, %ymm8
	vaddpd %ymm14, %ymm9, %ymm9
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm5, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm11, %ymm11
	vmovapd 96(%r10), %ymm12
	vmovapd %ymm3, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vfmadd231pd 64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 128(%r10), %ymm12
	vmovapd %ymm4, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm14
	vfmadd231pd 32(%r11), %ymm12, %ymm5
	vsubpd %ymm4, %ymm13, %ymm13
	vsubpd %ymm5, %ymm14, %ymm14
	vfmadd231pd (%r11), %ymm12, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm14
	vaddpd %ymm13, %ymm10, %ymm10
	vaddpd %ymm14, %ymm11, %ymm11
	vmovapd 160(%r10), %ymm12
	vmovapd %ymm5, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd (%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm11, %ymm11
	ret
	.p2align 6
.Lfma6_high:
	vmovapd 32(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm0
	vsubpd %ymm0, %ymm13, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm6, %ymm6
	vmovapd 64(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm1
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm14
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vmovapd 96(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -96(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -32(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm12, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd 128(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -128(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -96(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -64(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm12, %ymm13
	vfmadd231pd -96(%r11), %ymm12, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm3
	vsubpd %ymm3, %ymm13, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm9, %ymm9
	vmovapd 160(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd -160(%r11), %ymm12, %ymm0
	vmovapd %ymm1, %ymm14
	vfmadd231pd -128(%r11), %ymm12, %ymm1
	vmovapd %ymm2, %ymm15
	vfmadd231pd -96(%r11), %ymm12, %ymm2
	vsubpd %ymm0, %ymm13, %ymm13
	vsubpd %ymm1, %ymm14, %ymm14
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm12, %ymm13
	vfmadd231pd -128(%r11), %ymm12, %ymm14
	vfmadd231pd -96(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm6, %ymm6
	vaddpd %ymm14, %ymm7, %ymm7
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm3, %ymm13
	vfmadd231pd -64(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd -32(%r11), %ymm12, %ymm4
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vfmadd231pd -64(%r11), %ymm12, %ymm13
	vfmadd231pd -32(%r11), %ymm12, %ymm14
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	ret
	.p2align 6
.Lfma6_square_low:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm12
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm7
	vfmadd231pd 32(%r11), %ymm12, %ymm1
	vsubpd %ymm1, %ymm7, %ymm7
	vfmadd231pd 32(%r11), %ymm12, %ymm7
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm8
	vfmadd231pd 64(%r11), %ymm12, %ymm2
	vsubpd %ymm2, %ymm8, %ymm8
	vfmadd231pd 64(%r11), %ymm12, %ymm8
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm9
	vfmadd231pd 96(%r11), %ymm12, %ymm3
	vsubpd %ymm3, %ymm9, %ymm9
	vfmadd231pd 96(%r11), %ymm12, %ymm9
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm10
	vfmadd231pd 128(%r11), %ymm12, %ymm4
	vsubpd %ymm4, %ymm10, %ymm10
	vfmadd231pd 128(%r11), %ymm12, %ymm10
	vmovapd -128(%r14), %ymm5
	vmovapd %ymm5, %ymm11
	vfmadd231pd 160(%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm11, %ymm11
	vfmadd231pd 160(%r11), %ymm12, %ymm11
	vmovapd (%r11), %ymm12
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm6
	vfmadd231pd (%r11), %ymm12, %ymm0
	vsubpd %ymm0, %ymm6, %ymm6
	vfmadd231pd (%r11), %ymm12, %ymm6
	vmovapd 32(%r10), %ymm12
	vmovapd %ymm3, %ymm13
	vfmadd231pd 64(%r11), %ymm12, %ymm3
	vmovapd %ymm4, %ymm14
	vfmadd231pd 96(%r11), %ymm12, %ymm4
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm12, %ymm5
	vsubpd %ymm3, %ymm13, %ymm13
	vsubpd %ymm4, %ymm14, %ymm14
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm12, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm14
	vfmadd231pd 128(%r11), %ymm12, %ymm15
	vaddpd %ymm13, %ymm9, %ymm9
	vaddpd %ymm14, %ymm10, %ymm10
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 32(%r11), %ymm12
	vmovapd %ymm2, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm2
	vsubpd %ymm2, %ymm13, %ymm13
	vfmadd231pd 32(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm8, %ymm8
	vmovapd 64(%r10), %ymm12
	vmovapd %ymm5, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm5
	vsubpd %ymm5, %ymm13, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm11, %ymm11
	vmovapd 64(%r11), %ymm12
	vmovapd %ymm4, %ymm13
	vfmadd231pd 64(%r11), %ymm12, %ymm4
	vsubpd %ymm4, %ymm13, %ymm13
	vfmadd231pd 64(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm10, %ymm10
	ret
	.p2align 6
.Lfma6_square_high:
	lea 32(%r14), %rdx
	vmovapd 32(%r10), %ymm12
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm6
	vfmadd231pd 160(%r11), %ymm12, %ymm0
	vsubpd %ymm0, %ymm6, %ymm6
	vfmadd231pd 160(%r11), %ymm12, %ymm6
	vmovapd 64(%r10), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm0
	vsubpd %ymm0, %ymm13, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm6, %ymm6
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm7
	vfmadd231pd 160(%r11), %ymm12, %ymm1
	vsubpd %ymm1, %ymm7, %ymm7
	vfmadd231pd 160(%r11), %ymm12, %ymm7
	vmovapd 96(%r10), %ymm12
	vmovapd %ymm1, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm8
	vfmadd231pd 160(%r11), %ymm12, %ymm2
	vsubpd %ymm2, %ymm8, %ymm8
	vfmadd231pd 160(%r11), %ymm12, %ymm8
	vmovapd 96(%r11), %ymm12
	vmovapd %ymm0, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm0
	vsubpd %ymm0, %ymm13, %ymm13
	vfmadd231pd 96(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm6, %ymm6
	vmovapd 128(%r10), %ymm12
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm9
	vfmadd231pd 160(%r11), %ymm12, %ymm3
	vsubpd %ymm3, %ymm9, %ymm9
	vfmadd231pd 160(%r11), %ymm12, %ymm9
	vmovapd 128(%r11), %ymm12
	vmovapd %ymm2, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm2
	vsubpd %ymm2, %ymm13, %ymm13
	vfmadd231pd 128(%r11), %ymm12, %ymm13
	vaddpd %ymm13, %ymm8, %ymm8
	vmovapd 160(%r11), %ymm12
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm10
	vfmadd231pd 160(%r11), %ymm12, %ymm4
	vsubpd %ymm4, %ymm10, %ymm10
	vfmadd231pd 160(%r11), %ymm12, %ymm10
	vmovapd -128(%r14), %ymm5
	vxorpd %xmm11, %xmm11, %xmm11
	ret
	.p2align 6
.Lfma6_finish:
	vmovapd (%r9), %ymm12
	vaddpd (%rdx), %ymm0, %ymm0
	vfmadd231pd -64(%r14), %ymm12, %ymm6
	vmulpd -64(%r14), %ymm6, %ymm12
	vroundpd $8, %ymm12, %ymm12
	vfnmadd231pd -32(%r14), %ymm12, %ymm6
	vaddpd 32(%r9), %ymm6, %ymm6
	vmovapd %ymm6, (%rbx)
	vaddpd 32(%rdx), %ymm1, %ymm1
	vfmadd231pd -64(%r14), %ymm0, %ymm7
	vmulpd -64(%r14), %ymm7, %ymm0
	vroundpd $8, %ymm0, %ymm0
	vfnmadd231pd -32(%r14), %ymm0, %ymm7
	vaddpd %ymm12, %ymm7, %ymm7
	vmovapd %ymm7, 32(%rbx)
	vaddpd 64(%rdx), %ymm2, %ymm2
	vfmadd231pd -64(%r14), %ymm1, %ymm8
	vmulpd -64(%r14), %ymm8, %ymm1
	vroundpd $8, %ymm1, %ymm1
	vfnmadd231pd -32(%r14), %ymm1, %ymm8
	vaddpd %ymm0, %ymm8, %ymm8
	vmovapd %ymm8, 64(%rbx)
	vaddpd 96(%rdx), %ymm3, %ymm3
	vfmadd231pd -64(%r14), %ymm2, %ymm9
	vmulpd -64(%r14), %ymm9, %ymm2
	vroundpd $8, %ymm2, %ymm2
	vfnmadd231pd -32(%r14), %ymm2, %ymm9
	vaddpd %ymm1, %ymm9, %ymm9
	vmovapd %ymm9, 96(%rbx)
	vaddpd 128(%rdx), %ymm4, %ymm4
	vfmadd231pd -64(%r14), %ymm3, %ymm10
	vmulpd -64(%r14), %ymm10, %ymm3
	vroundpd $8, %ymm3, %ymm3
	vfnmadd231pd -32(%r14), %ymm3, %ymm10
	vaddpd %ymm2, %ymm10, %ymm10
	vmovapd %ymm10, 128(%rbx)
	vaddpd 160(%rdx), %ymm5, %ymm5
	vfmadd231pd -64(%r14), %ymm4, %ymm11
	vmulpd -64(%r14), %ymm11, %ymm4
	vroundpd $8, %ymm4, %ymm4
	vfnmadd231pd -32(%r14), %ymm4, %ymm11
	vaddpd %ymm3, %ymm11, %ymm11
	vmovapd %ymm11, 160(%rbx)
	vmovapd %ymm5, (%r9)
	vmovapd %ymm4, 32(%r9)
	add $192, %rbx
	ret
	.p2align 6
.Lfma7_start:
	lea 32(%r14), %rdx
	vmovapd -128(%r14), %ymm0
	vxorpd %xmm7, %xmm7, %xmm7
	vmovapd %ymm0, %ymm1
	vxorpd %xmm8, %xmm8, %xmm8
	vmovapd %ymm0, %ymm2
	vxorpd %xmm9, %xmm9, %xmm9
	vmovapd %ymm0, %ymm3
	vxorpd %xmm10, %xmm10, %xmm10
	vmovapd %ymm0, %ymm4
	vxorpd %xmm11, %xmm11, %xmm11
	vmovapd %ymm0, %ymm5
	vxorpd %xmm12, %xmm12, %xmm12
	vmovapd %ymm0, %ymm6
	vxorpd %xmm13, %xmm13, %xmm13
	ret
	.p2align 6
.Lfma7_start_from:
	lea 32(%r14), %rdx
	vmovapd -128(%r14), %ymm0
	vmovapd 0(%r12), %ymm7
	vmovapd %ymm0, %ymm1
	vmovapd 32(%r12), %ymm8
	vmovapd %ymm0, %ymm2
	vmovapd 64(%r12), %ymm9
	vmovapd %ymm0, %ymm3
	vmovapd 96(%r12), %ymm10
	vmovapd %ymm0, %ymm4
	vmovapd 128(%r12), %ymm11
	vmovapd %ymm0, %ymm5
	vmovapd 160(%r12), %ymm12
	vmovapd %ymm0, %ymm6
	vmovapd 192(%r12), %ymm13
	add $224, %r12
	ret
	.p2align 6
.Lfma7_restart:
	vmovapd %ymm0, 64(%r9)
	vmovapd %ymm1, 96(%r9)
	vmovapd %ymm2, 128(%r9)
	vmovapd %ymm3, 160(%r9)
	vmovapd %ymm4, 192(%r9)
	vmovapd %ymm5, 224(%r9)
	vmovapd %ymm6, 256(%r9)
	vmovapd -96(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd %ymm0, %ymm6
	lea 64(%r9), %rdx
	ret
	.p2align 6
.Lfma7_full:
	vmovapd (%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 192(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 192(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 32(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 64(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 96(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 128(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 160(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 192(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -192(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -192(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	ret
	.p2align 6
.Lfma7_full_first:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm14
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm7
	vfmadd231pd (%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm7, %ymm7
	vfmadd231pd (%r11), %ymm14, %ymm7
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm8
	vfmadd231pd 32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm8, %ymm8
	vfmadd231pd 32(%r11), %ymm14, %ymm8
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm9
	vfmadd231pd 64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm9, %ymm9
	vfmadd231pd 64(%r11), %ymm14, %ymm9
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm10
	vfmadd231pd 96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm10, %ymm10
	vfmadd231pd 96(%r11), %ymm14, %ymm10
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm11
	vfmadd231pd 128(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm11, %ymm11
	vfmadd231pd 128(%r11), %ymm14, %ymm11
	vmovapd -128(%r14), %ymm5
	vmovapd %ymm5, %ymm12
	vfmadd231pd 160(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm12, %ymm12
	vfmadd231pd 160(%r11), %ymm14, %ymm12
	vmovapd -128(%r14), %ymm6
	vmovapd %ymm6, %ymm13
	vfmadd231pd 192(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm13, %ymm13
	vfmadd231pd 192(%r11), %ymm14, %ymm13
	vmovapd 32(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 64(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 96(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 128(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 160(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 192(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -192(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -192(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	ret
	.p2align 6
.Lfma7_low:
	vmovapd (%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 192(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 192(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 32(%r10), %ymm14
	vmovapd %ymm1, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 64(%r10), %ymm14
	vmovapd %ymm2, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 96(%r10), %ymm14
	vmovapd %ymm3, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 128(%r10), %ymm14
	vmovapd %ymm4, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 160(%r10), %ymm14
	vmovapd %ymm5, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 192(%r10), %ymm14
	vmovapd %ymm6, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	ret
	.p2align 6
.Lfma7_low_first:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm14
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm7
	vfmadd231pd (%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm7, %ymm7
	vfmadd231pd (%r11), %ymm14, %ymm7
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm8
	vfmadd231pd 32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm8, %ymm8
	vfmadd231pd 32(%r11), %ymm14, %ymm8
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm9
	vfmadd231pd 64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm9, %ymm9
	vfmadd231pd 64(%r11), %ymm14, %ymm9
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm10
	vfmadd231pd 96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm10, %ymm10
	vfmadd231pd 96(%r11), %ymm14, %ymm10
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm11
	vfmadd231pd 128(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm11, %ymm11
	vfmadd231pd 128(%r11), %ymm14, %ymm11
	vmovapd -128(%r14), %ymm5
	vmovapd %ymm5, %ymm12
	vfmadd231pd 160(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm12, %ymm12
	vfmadd231pd 160(%r11), %ymm14, %ymm12
	vmovapd -128(%r14), %ymm6
	vmovapd %ymm6, %ymm13
	vfmadd231pd 192(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm13, %ymm13
	vfmadd231pd 192(%r11), %ymm14, %ymm13
	vmovapd 32(%r10), %ymm14
	vmovapd %ymm1, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 64(%r10), %ymm14
	vmovapd %ymm2, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 96(%r10), %ymm14
	vmovapd %ymm3, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 128(%r10), %ymm14
	vmovapd %ymm4, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 160(%r10), %ymm14
	vmovapd %ymm5, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 192(%r10), %ymm14
	vmovapd %ymm6, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd (%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	ret
	.p2align 6
.Lfma7_high:
	vmovapd 32(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd 64(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd 96(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 128(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd 160(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 192(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd -192(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd -192(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd -160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd %ymm2, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd -128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd %ymm3, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd -96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd -64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd -32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	ret
	.p2align 6
.Lfma7_square_low:
	lea 32(%r14), %rdx
	vmovapd (%r10), %ymm14
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm8
	vfmadd231pd 32(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm8, %ymm8
	vfmadd231pd 32(%r11), %ymm14, %ymm8
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm9
	vfmadd231pd 64(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm9, %ymm9
	vfmadd231pd 64(%r11), %ymm14, %ymm9
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm10
	vfmadd231pd 96(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm10, %ymm10
	vfmadd231pd 96(%r11), %ymm14, %ymm10
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm11
	vfmadd231pd 128(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm11, %ymm11
	vfmadd231pd 128(%r11), %ymm14, %ymm11
	vmovapd -128(%r14), %ymm5
	vmovapd %ymm5, %ymm12
	vfmadd231pd 160(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm12, %ymm12
	vfmadd231pd 160(%r11), %ymm14, %ymm12
	vmovapd -128(%r14), %ymm6
	vmovapd %ymm6, %ymm13
	vfmadd231pd 192(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm13, %ymm13
	vfmadd231pd 192(%r11), %ymm14, %ymm13
	vmovapd (%r11), %ymm14
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm7
	vfmadd231pd (%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm7, %ymm7
	vfmadd231pd (%r11), %ymm14, %ymm7
	vmovapd 32(%r10), %ymm14
	vmovapd %ymm3, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd %ymm4, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd %ymm5, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 32(%r11), %ymm14
	vmovapd %ymm2, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 32(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd 64(%r10), %ymm14
	vmovapd %ymm5, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm12, %ymm12
	vmovapd %ymm6, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	vmovapd 64(%r11), %ymm14
	vmovapd %ymm4, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm15, %ymm15
	vfmadd231pd 64(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm11, %ymm11
	vmovapd 96(%r11), %ymm14
	vmovapd %ymm6, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm6
	vsubpd %ymm6, %ymm15, %ymm15
	vfmadd231pd 96(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm13, %ymm13
	ret
	.p2align 6
.Lfma7_square_high:
	lea 32(%r14), %rdx
	vmovapd 32(%r10), %ymm14
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm7
	vfmadd231pd 192(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm7, %ymm7
	vfmadd231pd 192(%r11), %ymm14, %ymm7
	vmovapd 64(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd -128(%r14), %ymm1
	vmovapd %ymm1, %ymm8
	vfmadd231pd 192(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm8, %ymm8
	vfmadd231pd 192(%r11), %ymm14, %ymm8
	vmovapd 96(%r10), %ymm14
	vmovapd %ymm0, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm0
	vsubpd %ymm0, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm7, %ymm7
	vmovapd %ymm1, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd -128(%r14), %ymm2
	vmovapd %ymm2, %ymm9
	vfmadd231pd 192(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm9, %ymm9
	vfmadd231pd 192(%r11), %ymm14, %ymm9
	vmovapd 128(%r10), %ymm14
	vmovapd %ymm2, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm2
	vsubpd %ymm2, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm9, %ymm9
	vmovapd -128(%r14), %ymm3
	vmovapd %ymm3, %ymm10
	vfmadd231pd 192(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm10, %ymm10
	vfmadd231pd 192(%r11), %ymm14, %ymm10
	vmovapd 128(%r11), %ymm14
	vmovapd %ymm1, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm1
	vsubpd %ymm1, %ymm15, %ymm15
	vfmadd231pd 128(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm8, %ymm8
	vmovapd 160(%r10), %ymm14
	vmovapd -128(%r14), %ymm4
	vmovapd %ymm4, %ymm11
	vfmadd231pd 192(%r11), %ymm14, %ymm4
	vsubpd %ymm4, %ymm11, %ymm11
	vfmadd231pd 192(%r11), %ymm14, %ymm11
	vmovapd 160(%r11), %ymm14
	vmovapd %ymm3, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm3
	vsubpd %ymm3, %ymm15, %ymm15
	vfmadd231pd 160(%r11), %ymm14, %ymm15
	vaddpd %ymm15, %ymm10, %ymm10
	vmovapd 192(%r11), %ymm14
	vmovapd -128(%r14), %ymm5
	vmovapd %ymm5, %ymm12
	vfmadd231pd 192(%r11), %ymm14, %ymm5
	vsubpd %ymm5, %ymm12, %ymm12
	vfmadd231pd 192(%r11), %ymm14, %ymm12
	vmovapd -128(%r14), %ymm6
	vxorpd %xmm13, %xmm13, %xmm13
	ret
	.p2align 6
.Lfma7_finish:
	vmovapd (%r9), %ymm14
	vaddpd (%rdx), %ymm0, %ymm0
	vfmadd231pd -64(%r14), %ymm14, %ymm7
	vmulpd -64(%r14), %ymm7, %ymm14
	vroundpd $8, %ymm14, %ymm14
	vfnmadd231pd -32(%r14), %ymm14, %ymm7
	vaddpd 32(%r9), %ymm7, %ymm7
	vmovapd %ymm7, (%rbx)
	vaddpd 32(%rdx), %ymm1, %ymm1
	vfmadd231pd -64(%r14), %ymm0, %ymm8
	vmulpd -64(%r14), %ymm8, %ymm0
	vroundpd $8, %ymm0, %ymm0
	vfnmadd231pd -32(%r14), %ymm0, %ymm8
	vaddpd %ymm14, %ymm8, %ymm8
	vmovapd %ymm8, 32(%rbx)
	vaddpd 64(%rdx), %ymm2, %ymm2
	vfmadd231pd -64(%r14), %ymm1, %ymm9
	vmulpd -64(%r14), %ymm9, %ymm1
	vroundpd $8, %ymm1, %ymm1
	vfnmadd231pd -32(%r14), %ymm1, %ymm9
	vaddpd %ymm0, %ymm9, %ymm9
	vmovapd %ymm9, 64(%rbx)
	vaddpd 96(%rdx), %ymm3, %ymm3
	vfmadd231pd -64(%r14), %ymm2, %ymm10
	vmulpd -64(%r14), %ymm10, %ymm2
	vroundpd $8, %ymm2, %ymm2
	vfnmadd231pd -32(%r14), %ymm2, %ymm10
	vaddpd %ymm1, %ymm10, %ymm10
	vmovapd %ymm10, 96(%rbx)
	vaddpd 128(%rdx), %ymm4, %ymm4
	vfmadd231pd -64(%r14), %ymm3, %ymm11
	vmulpd -64(%r14), %ymm11, %ymm3
	vroundpd $8, %ymm3, %ymm3
	vfnmadd231pd -32(%r14), %ymm3, %ymm11
	vaddpd %ymm2, %ymm11, %ymm11
	vmovapd %ymm11, 128(%rbx)
	vaddpd 160(%rdx), %ymm5, %ymm5
	vfmadd231pd -64(%r14), %ymm4, %ymm12
	vmulpd -64(%r14), %ymm12, %ymm4
	vroundpd $8, %ymm4, %ymm4
	vfnmadd231pd -32(%r14), %ymm4, %ymm12
	vaddpd %ymm3, %ymm12, %ymm12
	vmovapd %ymm12, 160(%rbx)
	vaddpd 192(%rdx), %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm5, %ymm13
	vmulpd -64(%r14), %ymm13, %ymm5
	vroundpd $8, %ymm5, %ymm5
	vfnmadd231pd -32(%r14), %ymm5, %ymm13
	vaddpd %ymm4, %ymm13, %ymm13
	vmovapd %ymm13, 192(%rbx)
	vmovapd %ymm6, (%r9)
	vmovapd %ymm5, 32(%r9)
	add $224, %rbx
	ret
	.p2align 6
.Lfma_square_12:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_12+128(%rip), %r14
	2:
	vmovapd (%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 256(%r9)
	vmovapd 32(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 288(%r9)
	vmovapd 64(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 320(%r9)
	vmovapd 96(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 352(%r9)
	vmovapd 128(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 384(%r9)
	vmovapd 160(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 416(%r9)
	vmovapd 192(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 448(%r9)
	vmovapd 224(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 480(%r9)
	vmovapd 256(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 512(%r9)
	vmovapd 288(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 544(%r9)
	vmovapd 320(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 576(%r9)
	vmovapd 352(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 608(%r9)
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 640(%r9), %rbx
	lea 256(%r9), %r10
	lea (%rsi), %r11
	call .Lfma6_square_low
	call .Lfma6_finish
	lea 256(%r9), %r10
	lea (%rsi), %r11
	call .Lfma6_square_high
	lea 256(%r9), %r10
	lea 192(%rsi), %r11
	call .Lfma6_low
	call .Lfma6_finish
	lea 448(%r9), %r10
	lea 192(%rsi), %r11
	call .Lfma6_square_low
	lea 256(%r9), %r10
	lea 384(%rsi), %r11
	call .Lfma6_high
	call .Lfma6_finish
	lea 448(%r9), %r10
	lea 192(%rsi), %r11
	call .Lfma6_square_high
	call .Lfma6_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 1408(%r9), %rbx
	lea 640(%r9), %r10
	lea (%r8), %r11
	call .Lfma6_low_first
	call .Lfma6_finish
	lea 640(%r9), %r10
	lea 192(%r8), %r11
	call .Lfma6_full_first
	lea 832(%r9), %r10
	lea (%r8), %r11
	call .Lfma6_low
	call .Lfma6_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 992(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 1408(%r9), %r10
	lea 352(%rcx), %r11
	mov $3, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -160(%r11), %ymm10, %ymm4
	vmovapd 256(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -288(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -160(%r11), %ymm10, %ymm4
	vmovapd 256(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 1024(%r9), %r12
	call .Lfma6_start_from
	lea 1408(%r9), %r10
	lea 384(%rcx), %r11
	call .Lfma6_high
	lea 1600(%r9), %r10
	lea 192(%rcx), %r11
	call .Lfma6_full
	call .Lfma6_finish
	call .Lfma6_start_from
	lea 1600(%r9), %r10
	lea 384(%rcx), %r11
	call .Lfma6_high
	call .Lfma6_finish
	mov %rdi, %rsi
	dec %r13
	jnz 2b
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_product_12:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_12+128(%rip), %r14
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 640(%r9), %rbx
	lea (%rsi), %r10
	lea (%r13), %r11
	call .Lfma6_low_first
	call .Lfma6_finish
	lea (%rsi), %r10
	lea 192(%r13), %r11
	call .Lfma6_full_first
	lea 192(%rsi), %r10
	lea (%r13), %r11
	call .Lfma6_low
	call .Lfma6_finish
	call .Lfma6_start
	lea (%rsi), %r10
	lea 384(%r13), %r11
	call .Lfma6_high
	lea 192(%rsi), %r10
	lea 192(%r13), %r11
	call .Lfma6_full
	call .Lfma6_finish
	call .Lfma6_start
	lea 192(%rsi), %r10
	lea 384(%r13), %r11
	call .Lfma6_high
	call .Lfma6_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 1408(%r9), %rbx
	lea 640(%r9), %r10
	lea (%r8), %r11
	call .Lfma6_low_first
	call .Lfma6_finish
	lea 640(%r9), %r10
	lea 192(%r8), %r11
	call .Lfma6_full_first
	lea 832(%r9), %r10
	lea (%r8), %r11
	call .Lfma6_low
	call .Lfma6_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 992(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 1408(%r9), %r10
	lea 352(%rcx), %r11
	mov $3, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -160(%r11), %ymm10, %ymm4
	vmovapd 256(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -288(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 128(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -128(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -160(%r11), %ymm10, %ymm4
	vmovapd 256(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -256(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 1024(%r9), %r12
	call .Lfma6_start_from
	lea 1408(%r9), %r10
	lea 384(%rcx), %r11
	call .Lfma6_high
	lea 1600(%r9), %r10
	lea 192(%rcx), %r11
	call .Lfma6_full
	call .Lfma6_finish
	call .Lfma6_start_from
	lea 1600(%r9), %r10
	lea 384(%rcx), %r11
	call .Lfma6_high
	call .Lfma6_finish
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_pick_12:
	vmovdqa (%rdx), %ymm15
	vpcmpeqd %ymm14, %ymm14, %ymm14
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea (%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $384, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, (%rdi)
	vmovapd %ymm1, 32(%rdi)
	vmovapd %ymm2, 64(%rdi)
	vmovapd %ymm3, 96(%rdi)
	vmovapd %ymm4, 128(%rdi)
	vmovapd %ymm5, 160(%rdi)
	vmovapd %ymm6, 192(%rdi)
	vmovapd %ymm7, 224(%rdi)
	vmovapd %ymm8, 256(%rdi)
	vmovapd %ymm9, 288(%rdi)
	vmovapd %ymm10, 320(%rdi)
	vmovapd %ymm11, 352(%rdi)
	vzeroupper
	ret
	.p2align 6
.Lfma_square_21:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_21+128(%rip), %r14
	2:
	vmovapd (%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 288(%r9)
	vmovapd 32(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 320(%r9)
	vmovapd 64(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 352(%r9)
	vmovapd 96(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 384(%r9)
	vmovapd 128(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 416(%r9)
	vmovapd 160(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 448(%r9)
	vmovapd 192(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 480(%r9)
	vmovapd 224(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 512(%r9)
	vmovapd 256(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 544(%r9)
	vmovapd 288(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 576(%r9)
	vmovapd 320(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 608(%r9)
	vmovapd 352(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 640(%r9)
	vmovapd 384(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 672(%r9)
	vmovapd 416(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 704(%r9)
	vmovapd 448(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 736(%r9)
	vmovapd 480(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 768(%r9)
	vmovapd 512(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 800(%r9)
	vmovapd 544(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 832(%r9)
	vmovapd 576(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 864(%r9)
	vmovapd 608(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 896(%r9)
	vmovapd 640(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 928(%r9)
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 960(%r9), %rbx
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_low
	call .Lfma7_finish
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_low
	call .Lfma7_restart
	lea 288(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_high
	call .Lfma7_restart
	lea 288(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_high
	lea 512(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_low
	lea 512(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_high
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 2304(%r9), %rbx
	lea 960(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 1184(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 1184(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	call .Lfma7_restart
	lea 1408(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 1600(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 2304(%r9), %r10
	lea 640(%rcx), %r11
	mov $6, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 224(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -256(%r11), %ymm10, %ymm4
	vmovapd 448(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -480(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 224(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -256(%r11), %ymm10, %ymm4
	vmovapd 448(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 1632(%r9), %r12
	call .Lfma7_start_from
	lea 2304(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_high
	lea 2528(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_restart
	lea 2752(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 2528(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_high
	lea 2752(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 2752(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	mov %rdi, %rsi
	dec %r13
	jnz 2b
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_product_21:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_21+128(%rip), %r14
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 960(%r9), %rbx
	lea (%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	call .Lfma7_restart
	lea 448(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	call .Lfma7_start
	lea (%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_high
	lea 224(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	call .Lfma7_restart
	lea 448(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 224(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_high
	lea 448(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 448(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 2304(%r9), %rbx
	lea 960(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 1184(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 1184(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	call .Lfma7_restart
	lea 1408(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 1600(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 2304(%r9), %r10
	lea 640(%rcx), %r11
	mov $6, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 224(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -256(%r11), %ymm10, %ymm4
	vmovapd 448(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -480(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 224(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -224(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -256(%r11), %ymm10, %ymm4
	vmovapd 448(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -448(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 1632(%r9), %r12
	call .Lfma7_start_from
	lea 2304(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_high
	lea 2528(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_restart
	lea 2752(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 2528(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_high
	lea 2752(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 2752(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_pick_21:
	vmovdqa (%rdx), %ymm15
	vpcmpeqd %ymm14, %ymm14, %ymm14
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vpxor %xmm13, %xmm13, %xmm13
	lea (%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	add $672, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, (%rdi)
	vmovapd %ymm1, 32(%rdi)
	vmovapd %ymm2, 64(%rdi)
	vmovapd %ymm3, 96(%rdi)
	vmovapd %ymm4, 128(%rdi)
	vmovapd %ymm5, 160(%rdi)
	vmovapd %ymm6, 192(%rdi)
	vmovapd %ymm7, 224(%rdi)
	vmovapd %ymm8, 256(%rdi)
	vmovapd %ymm9, 288(%rdi)
	vmovapd %ymm10, 320(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vpxor %xmm13, %xmm13, %xmm13
	lea 352(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	add $672, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 352(%rdi)
	vmovapd %ymm1, 384(%rdi)
	vmovapd %ymm2, 416(%rdi)
	vmovapd %ymm3, 448(%rdi)
	vmovapd %ymm4, 480(%rdi)
	vmovapd %ymm5, 512(%rdi)
	vmovapd %ymm6, 544(%rdi)
	vmovapd %ymm7, 576(%rdi)
	vmovapd %ymm8, 608(%rdi)
	vmovapd %ymm9, 640(%rdi)
	vzeroupper
	ret
	.p2align 6
.Lfma_square_35:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_35+128(%rip), %r14
	2:
	vmovapd (%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 288(%r9)
	vmovapd 32(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 320(%r9)
	vmovapd 64(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 352(%r9)
	vmovapd 96(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 384(%r9)
	vmovapd 128(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 416(%r9)
	vmovapd 160(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 448(%r9)
	vmovapd 192(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 480(%r9)
	vmovapd 224(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 512(%r9)
	vmovapd 256(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 544(%r9)
	vmovapd 288(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 576(%r9)
	vmovapd 320(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 608(%r9)
	vmovapd 352(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 640(%r9)
	vmovapd 384(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 672(%r9)
	vmovapd 416(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 704(%r9)
	vmovapd 448(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 736(%r9)
	vmovapd 480(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 768(%r9)
	vmovapd 512(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 800(%r9)
	vmovapd 544(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 832(%r9)
	vmovapd 576(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 864(%r9)
	vmovapd 608(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 896(%r9)
	vmovapd 640(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 928(%r9)
	vmovapd 672(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 960(%r9)
	vmovapd 704(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 992(%r9)
	vmovapd 736(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1024(%r9)
	vmovapd 768(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1056(%r9)
	vmovapd 800(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1088(%r9)
	vmovapd 832(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1120(%r9)
	vmovapd 864(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1152(%r9)
	vmovapd 896(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1184(%r9)
	vmovapd 928(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1216(%r9)
	vmovapd 960(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1248(%r9)
	vmovapd 992(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1280(%r9)
	vmovapd 1024(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1312(%r9)
	vmovapd 1056(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1344(%r9)
	vmovapd 1088(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1376(%r9)
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 1408(%r9), %rbx
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_low
	call .Lfma7_finish
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_high
	lea 512(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_square_low
	lea 512(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_high
	lea 736(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_square_high
	lea 736(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_high
	lea 960(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1184(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_square_low
	lea 960(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_high
	call .Lfma7_finish
	lea 1184(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_square_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 3648(%r9), %rbx
	lea 1408(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 2080(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 2080(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 2304(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 2496(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 3648(%r9), %r10
	lea 1088(%rcx), %r11
	mov $10, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 384(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -416(%r11), %ymm10, %ymm4
	vmovapd 768(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -800(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 32(%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -64(%r11), %ymm9, %ymm3
	vmovapd 384(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -416(%r11), %ymm10, %ymm4
	vmovapd 416(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -416(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -416(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -448(%r11), %ymm10, %ymm4
	vmovapd 768(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 2528(%r9), %r12
	call .Lfma7_start_from
	lea 3648(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 3872(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 3872(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 4096(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 4096(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 4320(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 4320(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 4544(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 4544(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	mov %rdi, %rsi
	dec %r13
	jnz 2b
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_product_35:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_35+128(%rip), %r14
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 1408(%r9), %rbx
	lea (%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	call .Lfma7_start
	lea (%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_high
	lea 224(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 224(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_high
	lea 448(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 448(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_high
	lea 672(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 672(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_high
	lea 896(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 896(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 3648(%r9), %rbx
	lea 1408(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 2080(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full_first
	lea 1632(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 2080(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 2304(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 2496(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 3648(%r9), %r10
	lea 1088(%rcx), %r11
	mov $10, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 384(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -416(%r11), %ymm10, %ymm4
	vmovapd 768(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -800(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 32(%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -64(%r11), %ymm9, %ymm3
	vmovapd 384(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -384(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -416(%r11), %ymm10, %ymm4
	vmovapd 416(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -416(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -416(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -448(%r11), %ymm10, %ymm4
	vmovapd 768(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -768(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 2528(%r9), %r12
	call .Lfma7_start_from
	lea 3648(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 3872(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 3872(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 4096(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 4096(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 4320(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 4320(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	lea 4544(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 4544(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_pick_35:
	vmovdqa (%rdx), %ymm15
	vpcmpeqd %ymm14, %ymm14, %ymm14
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea (%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $1120, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, (%rdi)
	vmovapd %ymm1, 32(%rdi)
	vmovapd %ymm2, 64(%rdi)
	vmovapd %ymm3, 96(%rdi)
	vmovapd %ymm4, 128(%rdi)
	vmovapd %ymm5, 160(%rdi)
	vmovapd %ymm6, 192(%rdi)
	vmovapd %ymm7, 224(%rdi)
	vmovapd %ymm8, 256(%rdi)
	vmovapd %ymm9, 288(%rdi)
	vmovapd %ymm10, 320(%rdi)
	vmovapd %ymm11, 352(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 384(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $1120, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 384(%rdi)
	vmovapd %ymm1, 416(%rdi)
	vmovapd %ymm2, 448(%rdi)
	vmovapd %ymm3, 480(%rdi)
	vmovapd %ymm4, 512(%rdi)
	vmovapd %ymm5, 544(%rdi)
	vmovapd %ymm6, 576(%rdi)
	vmovapd %ymm7, 608(%rdi)
	vmovapd %ymm8, 640(%rdi)
	vmovapd %ymm9, 672(%rdi)
	vmovapd %ymm10, 704(%rdi)
	vmovapd %ymm11, 736(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vpxor %xmm13, %xmm13, %xmm13
	lea 768(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	add $1120, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 768(%rdi)
	vmovapd %ymm1, 800(%rdi)
	vmovapd %ymm2, 832(%rdi)
	vmovapd %ymm3, 864(%rdi)
	vmovapd %ymm4, 896(%rdi)
	vmovapd %ymm5, 928(%rdi)
	vmovapd %ymm6, 960(%rdi)
	vmovapd %ymm7, 992(%rdi)
	vmovapd %ymm8, 1024(%rdi)
	vmovapd %ymm9, 1056(%rdi)
	vmovapd %ymm10, 1088(%rdi)
	vzeroupper
	ret
	.p2align 6
.Lfma_square_45:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_45+128(%rip), %r14
	2:
	vmovapd (%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 224(%r9)
	vmovapd 32(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 256(%r9)
	vmovapd 64(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 288(%r9)
	vmovapd 96(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 320(%r9)
	vmovapd 128(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 352(%r9)
	vmovapd 160(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 384(%r9)
	vmovapd 192(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 416(%r9)
	vmovapd 224(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 448(%r9)
	vmovapd 256(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 480(%r9)
	vmovapd 288(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 512(%r9)
	vmovapd 320(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 544(%r9)
	vmovapd 352(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 576(%r9)
	vmovapd 384(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 608(%r9)
	vmovapd 416(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 640(%r9)
	vmovapd 448(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 672(%r9)
	vmovapd 480(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 704(%r9)
	vmovapd 512(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 736(%r9)
	vmovapd 544(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 768(%r9)
	vmovapd 576(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 800(%r9)
	vmovapd 608(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 832(%r9)
	vmovapd 640(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 864(%r9)
	vmovapd 672(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 896(%r9)
	vmovapd 704(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 928(%r9)
	vmovapd 736(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 960(%r9)
	vmovapd 768(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 992(%r9)
	vmovapd 800(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1024(%r9)
	vmovapd 832(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1056(%r9)
	vmovapd 864(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1088(%r9)
	vmovapd 896(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1120(%r9)
	vmovapd 928(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1152(%r9)
	vmovapd 960(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1184(%r9)
	vmovapd 992(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1216(%r9)
	vmovapd 1024(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1248(%r9)
	vmovapd 1056(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1280(%r9)
	vmovapd 1088(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1312(%r9)
	vmovapd 1120(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1344(%r9)
	vmovapd 1152(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1376(%r9)
	vmovapd 1184(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1408(%r9)
	vmovapd 1216(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1440(%r9)
	vmovapd 1248(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1472(%r9)
	vmovapd 1280(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1504(%r9)
	vmovapd 1312(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1536(%r9)
	vmovapd 1344(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1568(%r9)
	vmovapd 1376(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1600(%r9)
	vmovapd 1408(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1632(%r9)
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 1664(%r9), %rbx
	lea 224(%r9), %r10
	lea (%rsi), %r11
	call .Lfma5_square_low
	call .Lfma5_finish
	lea 224(%r9), %r10
	lea (%rsi), %r11
	call .Lfma5_square_high
	lea 224(%r9), %r10
	lea 160(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 384(%r9), %r10
	lea 160(%rsi), %r11
	call .Lfma5_square_low
	lea 224(%r9), %r10
	lea 320(%rsi), %r11
	call .Lfma5_full
	call .Lfma5_finish
	lea 384(%r9), %r10
	lea 160(%rsi), %r11
	call .Lfma5_square_high
	lea 224(%r9), %r10
	lea 480(%rsi), %r11
	call .Lfma5_full
	lea 384(%r9), %r10
	lea 320(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 544(%r9), %r10
	lea 320(%rsi), %r11
	call .Lfma5_square_low
	lea 224(%r9), %r10
	lea 640(%rsi), %r11
	call .Lfma5_full
	lea 384(%r9), %r10
	lea 480(%rsi), %r11
	call .Lfma5_full
	call .Lfma5_finish
	lea 544(%r9), %r10
	lea 320(%rsi), %r11
	call .Lfma5_square_high
	lea 224(%r9), %r10
	lea 800(%rsi), %r11
	call .Lfma5_full
	lea 384(%r9), %r10
	lea 640(%rsi), %r11
	call .Lfma5_full
	lea 544(%r9), %r10
	lea 480(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 704(%r9), %r10
	lea 480(%rsi), %r11
	call .Lfma5_square_low
	lea 224(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_full
	lea 384(%r9), %r10
	lea 800(%rsi), %r11
	call .Lfma5_full
	lea 544(%r9), %r10
	lea 640(%rsi), %r11
	call .Lfma5_full
	call .Lfma5_finish
	lea 704(%r9), %r10
	lea 480(%rsi), %r11
	call .Lfma5_square_high
	lea 224(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_full
	lea 384(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_full
	lea 544(%r9), %r10
	lea 800(%rsi), %r11
	call .Lfma5_full
	lea 704(%r9), %r10
	lea 640(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 864(%r9), %r10
	lea 640(%rsi), %r11
	call .Lfma5_square_low
	lea 224(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_full
	lea 384(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_full
	lea 544(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_full
	lea 704(%r9), %r10
	lea 800(%rsi), %r11
	call .Lfma5_full
	call .Lfma5_finish
	lea 864(%r9), %r10
	lea 640(%rsi), %r11
	call .Lfma5_square_high
	lea 224(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	lea 384(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_full
	lea 544(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_full
	lea 704(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_full
	lea 864(%r9), %r10
	lea 800(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1024(%r9), %r10
	lea 800(%rsi), %r11
	call .Lfma5_square_low
	lea 384(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	lea 544(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_full
	lea 704(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_full
	lea 864(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_full
	call .Lfma5_finish
	lea 1024(%r9), %r10
	lea 800(%rsi), %r11
	call .Lfma5_square_high
	lea 544(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	lea 704(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_full
	lea 864(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_full
	lea 1024(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1184(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_square_low
	lea 704(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	lea 864(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_full
	lea 1024(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_full
	call .Lfma5_finish
	lea 1184(%r9), %r10
	lea 960(%rsi), %r11
	call .Lfma5_square_high
	lea 864(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	lea 1024(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_full
	lea 1184(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1344(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_square_low
	lea 1024(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	lea 1184(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_full
	call .Lfma5_finish
	lea 1344(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma5_square_high
	lea 1184(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	lea 1344(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1504(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_square_low
	lea 1344(%r9), %r10
	lea 1440(%rsi), %r11
	call .Lfma5_high
	call .Lfma5_finish
	lea 1504(%r9), %r10
	lea 1280(%rsi), %r11
	call .Lfma5_square_high
	call .Lfma5_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 4544(%r9), %rbx
	lea 1664(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low_first
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 960(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2624(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 960(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2624(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2784(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 1280(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 960(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2624(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2784(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2944(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 3072(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 4544(%r9), %r10
	lea 1408(%rcx), %r11
	mov $14, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 480(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -512(%r11), %ymm10, %ymm4
	vmovapd 960(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -992(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 480(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -512(%r11), %ymm10, %ymm4
	vmovapd 960(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 3104(%r9), %r12
	call .Lfma5_start_from
	lea 4544(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 4704(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 4864(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5024(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5184(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 480(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 320(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 160(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 4704(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 4864(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5024(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5184(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 480(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 320(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 4864(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5024(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5184(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 480(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5024(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5184(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5184(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5344(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5344(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5504(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5504(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5664(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5664(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5824(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5824(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	call .Lfma5_finish
	mov %rdi, %rsi
	dec %r13
	jnz 2b
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_product_45:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_45+128(%rip), %r14
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 1664(%r9), %rbx
	lea (%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low_first
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea (%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full_first
	lea 160(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea (%r13), %r11
	call .Lfma5_low
	call .Lfma5_finish
	call .Lfma5_start
	lea (%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 160(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	lea 320(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea 160(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 160(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 320(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	lea 480(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea 320(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 320(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 480(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	lea 640(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea 480(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 480(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 640(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	lea 800(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea 640(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 640(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 800(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	lea 960(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea 800(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 800(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 960(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	lea 1120(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea 960(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 960(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 1120(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	lea 1280(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 1120(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	lea 1280(%rsi), %r10
	lea 1280(%r13), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start
	lea 1280(%rsi), %r10
	lea 1440(%r13), %r11
	call .Lfma5_high
	call .Lfma5_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 4544(%r9), %rbx
	lea 1664(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low_first
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 960(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2624(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 960(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2624(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2784(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	lea 1664(%r9), %r10
	lea 1280(%r8), %r11
	call .Lfma5_full_first
	lea 1824(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma5_full
	lea 1984(%r9), %r10
	lea 960(%r8), %r11
	call .Lfma5_full
	lea 2144(%r9), %r10
	lea 800(%r8), %r11
	call .Lfma5_full
	lea 2304(%r9), %r10
	lea 640(%r8), %r11
	call .Lfma5_full
	lea 2464(%r9), %r10
	lea 480(%r8), %r11
	call .Lfma5_full
	lea 2624(%r9), %r10
	lea 320(%r8), %r11
	call .Lfma5_full
	lea 2784(%r9), %r10
	lea 160(%r8), %r11
	call .Lfma5_full
	lea 2944(%r9), %r10
	lea (%r8), %r11
	call .Lfma5_low
	call .Lfma5_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 3072(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 4544(%r9), %r10
	lea 1408(%rcx), %r11
	mov $14, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 480(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -512(%r11), %ymm10, %ymm4
	vmovapd 960(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -992(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 480(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -480(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -512(%r11), %ymm10, %ymm4
	vmovapd 960(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -960(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 3104(%r9), %r12
	call .Lfma5_start_from
	lea 4544(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 4704(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 4864(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5024(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5184(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 480(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 320(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 160(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 4704(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 4864(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5024(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5184(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 480(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 320(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 4864(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5024(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5184(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 480(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5024(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5184(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5344(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 640(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5184(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5344(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5504(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 800(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5344(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5504(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5664(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 960(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5504(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5664(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	lea 5824(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5664(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	lea 5824(%r9), %r10
	lea 1280(%rcx), %r11
	call .Lfma5_full
	call .Lfma5_finish
	call .Lfma5_start_from
	lea 5824(%r9), %r10
	lea 1440(%rcx), %r11
	call .Lfma5_high
	call .Lfma5_finish
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_pick_45:
	vmovdqa (%rdx), %ymm15
	vpcmpeqd %ymm14, %ymm14, %ymm14
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea (%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $1440, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, (%rdi)
	vmovapd %ymm1, 32(%rdi)
	vmovapd %ymm2, 64(%rdi)
	vmovapd %ymm3, 96(%rdi)
	vmovapd %ymm4, 128(%rdi)
	vmovapd %ymm5, 160(%rdi)
	vmovapd %ymm6, 192(%rdi)
	vmovapd %ymm7, 224(%rdi)
	vmovapd %ymm8, 256(%rdi)
	vmovapd %ymm9, 288(%rdi)
	vmovapd %ymm10, 320(%rdi)
	vmovapd %ymm11, 352(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 384(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $1440, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 384(%rdi)
	vmovapd %ymm1, 416(%rdi)
	vmovapd %ymm2, 448(%rdi)
	vmovapd %ymm3, 480(%rdi)
	vmovapd %ymm4, 512(%rdi)
	vmovapd %ymm5, 544(%rdi)
	vmovapd %ymm6, 576(%rdi)
	vmovapd %ymm7, 608(%rdi)
	vmovapd %ymm8, 640(%rdi)
	vmovapd %ymm9, 672(%rdi)
	vmovapd %ymm10, 704(%rdi)
	vmovapd %ymm11, 736(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 768(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $1440, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 768(%rdi)
	vmovapd %ymm1, 800(%rdi)
	vmovapd %ymm2, 832(%rdi)
	vmovapd %ymm3, 864(%rdi)
	vmovapd %ymm4, 896(%rdi)
	vmovapd %ymm5, 928(%rdi)
	vmovapd %ymm6, 960(%rdi)
	vmovapd %ymm7, 992(%rdi)
	vmovapd %ymm8, 1024(%rdi)
	vmovapd %ymm9, 1056(%rdi)
	vmovapd %ymm10, 1088(%rdi)
	vmovapd %ymm11, 1120(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vpxor %xmm13, %xmm13, %xmm13
	lea 1152(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	add $1440, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 1152(%rdi)
	vmovapd %ymm1, 1184(%rdi)
	vmovapd %ymm2, 1216(%rdi)
	vmovapd %ymm3, 1248(%rdi)
	vmovapd %ymm4, 1280(%rdi)
	vmovapd %ymm5, 1312(%rdi)
	vmovapd %ymm6, 1344(%rdi)
	vmovapd %ymm7, 1376(%rdi)
	vmovapd %ymm8, 1408(%rdi)
	vzeroupper
	ret
	.p2align 6
.Lfma_square_70:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_70+128(%rip), %r14
	2:
	vmovapd (%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 288(%r9)
	vmovapd 32(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 320(%r9)
	vmovapd 64(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 352(%r9)
	vmovapd 96(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 384(%r9)
	vmovapd 128(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 416(%r9)
	vmovapd 160(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 448(%r9)
	vmovapd 192(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 480(%r9)
	vmovapd 224(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 512(%r9)
	vmovapd 256(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 544(%r9)
	vmovapd 288(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 576(%r9)
	vmovapd 320(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 608(%r9)
	vmovapd 352(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 640(%r9)
	vmovapd 384(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 672(%r9)
	vmovapd 416(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 704(%r9)
	vmovapd 448(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 736(%r9)
	vmovapd 480(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 768(%r9)
	vmovapd 512(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 800(%r9)
	vmovapd 544(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 832(%r9)
	vmovapd 576(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 864(%r9)
	vmovapd 608(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 896(%r9)
	vmovapd 640(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 928(%r9)
	vmovapd 672(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 960(%r9)
	vmovapd 704(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 992(%r9)
	vmovapd 736(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1024(%r9)
	vmovapd 768(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1056(%r9)
	vmovapd 800(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1088(%r9)
	vmovapd 832(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1120(%r9)
	vmovapd 864(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1152(%r9)
	vmovapd 896(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1184(%r9)
	vmovapd 928(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1216(%r9)
	vmovapd 960(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1248(%r9)
	vmovapd 992(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1280(%r9)
	vmovapd 1024(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1312(%r9)
	vmovapd 1056(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1344(%r9)
	vmovapd 1088(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1376(%r9)
	vmovapd 1120(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1408(%r9)
	vmovapd 1152(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1440(%r9)
	vmovapd 1184(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1472(%r9)
	vmovapd 1216(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1504(%r9)
	vmovapd 1248(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1536(%r9)
	vmovapd 1280(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1568(%r9)
	vmovapd 1312(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1600(%r9)
	vmovapd 1344(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1632(%r9)
	vmovapd 1376(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1664(%r9)
	vmovapd 1408(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1696(%r9)
	vmovapd 1440(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1728(%r9)
	vmovapd 1472(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1760(%r9)
	vmovapd 1504(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1792(%r9)
	vmovapd 1536(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1824(%r9)
	vmovapd 1568(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1856(%r9)
	vmovapd 1600(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1888(%r9)
	vmovapd 1632(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1920(%r9)
	vmovapd 1664(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1952(%r9)
	vmovapd 1696(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1984(%r9)
	vmovapd 1728(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2016(%r9)
	vmovapd 1760(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2048(%r9)
	vmovapd 1792(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2080(%r9)
	vmovapd 1824(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2112(%r9)
	vmovapd 1856(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2144(%r9)
	vmovapd 1888(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2176(%r9)
	vmovapd 1920(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2208(%r9)
	vmovapd 1952(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2240(%r9)
	vmovapd 1984(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2272(%r9)
	vmovapd 2016(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2304(%r9)
	vmovapd 2048(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2336(%r9)
	vmovapd 2080(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2368(%r9)
	vmovapd 2112(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2400(%r9)
	vmovapd 2144(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2432(%r9)
	vmovapd 2176(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2464(%r9)
	vmovapd 2208(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2496(%r9)
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 2528(%r9), %rbx
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_low
	call .Lfma7_finish
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1184(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1184(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 512(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_square_high
	lea 512(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 736(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1632(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_square_low
	lea 736(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 960(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1632(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_square_high
	lea 960(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 1184(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 1632(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1856(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_square_low
	lea 1184(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 1408(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1632(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1856(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_square_high
	lea 1408(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 1632(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2080(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_square_low
	lea 1632(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 1856(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 2080(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_square_high
	lea 1856(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	lea 2080(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2304(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_square_low
	lea 2080(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_high
	call .Lfma7_finish
	lea 2304(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_square_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 7008(%r9), %rbx
	lea 2528(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 4736(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 7008(%r9), %r10
	lea 2208(%rcx), %r11
	mov $22, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 768(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -800(%r11), %ymm10, %ymm4
	vmovapd 1504(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -1536(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 32(%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -64(%r11), %ymm9, %ymm3
	vmovapd 768(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -800(%r11), %ymm10, %ymm4
	vmovapd 1504(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 4768(%r9), %r12
	call .Lfma7_start_from
	lea 7008(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7232(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 7456(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 7680(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 7904(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7232(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7456(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 7680(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 7904(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7456(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7680(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 7904(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7680(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7904(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7904(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8128(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8128(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8352(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8352(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8576(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8576(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8800(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8800(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 9024(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9024(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	mov %rdi, %rsi
	dec %r13
	jnz 2b
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_product_70:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_70+128(%rip), %r14
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 2528(%r9), %rbx
	lea (%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	call .Lfma7_start
	lea (%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 224(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 224(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 448(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 448(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 672(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 672(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 896(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 896(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 1120(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1120(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 1344(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1344(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 1568(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1568(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 1792(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1792(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	lea 2016(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 2016(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 7008(%r9), %rbx
	lea 2528(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full_first
	lea 2752(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 2976(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 3200(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3424(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 4736(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 7008(%r9), %r10
	lea 2208(%rcx), %r11
	mov $22, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 768(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -800(%r11), %ymm10, %ymm4
	vmovapd 1504(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -1536(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 32(%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -64(%r11), %ymm9, %ymm3
	vmovapd 768(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -768(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -800(%r11), %ymm10, %ymm4
	vmovapd 1504(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1504(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 4768(%r9), %r12
	call .Lfma7_start_from
	lea 7008(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7232(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 7456(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 7680(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 7904(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7232(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7456(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 7680(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 7904(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7456(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7680(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 7904(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7680(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 7904(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8128(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 7904(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8128(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8352(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8128(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8352(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8576(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8352(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8576(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 8800(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8576(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 8800(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 9024(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 8800(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	lea 9024(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9024(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_pick_70:
	vmovdqa (%rdx), %ymm15
	vpcmpeqd %ymm14, %ymm14, %ymm14
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea (%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2240, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, (%rdi)
	vmovapd %ymm1, 32(%rdi)
	vmovapd %ymm2, 64(%rdi)
	vmovapd %ymm3, 96(%rdi)
	vmovapd %ymm4, 128(%rdi)
	vmovapd %ymm5, 160(%rdi)
	vmovapd %ymm6, 192(%rdi)
	vmovapd %ymm7, 224(%rdi)
	vmovapd %ymm8, 256(%rdi)
	vmovapd %ymm9, 288(%rdi)
	vmovapd %ymm10, 320(%rdi)
	vmovapd %ymm11, 352(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 384(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2240, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 384(%rdi)
	vmovapd %ymm1, 416(%rdi)
	vmovapd %ymm2, 448(%rdi)
	vmovapd %ymm3, 480(%rdi)
	vmovapd %ymm4, 512(%rdi)
	vmovapd %ymm5, 544(%rdi)
	vmovapd %ymm6, 576(%rdi)
	vmovapd %ymm7, 608(%rdi)
	vmovapd %ymm8, 640(%rdi)
	vmovapd %ymm9, 672(%rdi)
	vmovapd %ymm10, 704(%rdi)
	vmovapd %ymm11, 736(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 768(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2240, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 768(%rdi)
	vmovapd %ymm1, 800(%rdi)
	vmovapd %ymm2, 832(%rdi)
	vmovapd %ymm3, 864(%rdi)
	vmovapd %ymm4, 896(%rdi)
	vmovapd %ymm5, 928(%rdi)
	vmovapd %ymm6, 960(%rdi)
	vmovapd %ymm7, 992(%rdi)
	vmovapd %ymm8, 1024(%rdi)
	vmovapd %ymm9, 1056(%rdi)
	vmovapd %ymm10, 1088(%rdi)
	vmovapd %ymm11, 1120(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 1152(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2240, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 1152(%rdi)
	vmovapd %ymm1, 1184(%rdi)
	vmovapd %ymm2, 1216(%rdi)
	vmovapd %ymm3, 1248(%rdi)
	vmovapd %ymm4, 1280(%rdi)
	vmovapd %ymm5, 1312(%rdi)
	vmovapd %ymm6, 1344(%rdi)
	vmovapd %ymm7, 1376(%rdi)
	vmovapd %ymm8, 1408(%rdi)
	vmovapd %ymm9, 1440(%rdi)
	vmovapd %ymm10, 1472(%rdi)
	vmovapd %ymm11, 1504(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 1536(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2240, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 1536(%rdi)
	vmovapd %ymm1, 1568(%rdi)
	vmovapd %ymm2, 1600(%rdi)
	vmovapd %ymm3, 1632(%rdi)
	vmovapd %ymm4, 1664(%rdi)
	vmovapd %ymm5, 1696(%rdi)
	vmovapd %ymm6, 1728(%rdi)
	vmovapd %ymm7, 1760(%rdi)
	vmovapd %ymm8, 1792(%rdi)
	vmovapd %ymm9, 1824(%rdi)
	vmovapd %ymm10, 1856(%rdi)
	vmovapd %ymm11, 1888(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vpxor %xmm13, %xmm13, %xmm13
	lea 1920(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	add $2240, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 1920(%rdi)
	vmovapd %ymm1, 1952(%rdi)
	vmovapd %ymm2, 1984(%rdi)
	vmovapd %ymm3, 2016(%rdi)
	vmovapd %ymm4, 2048(%rdi)
	vmovapd %ymm5, 2080(%rdi)
	vmovapd %ymm6, 2112(%rdi)
	vmovapd %ymm7, 2144(%rdi)
	vmovapd %ymm8, 2176(%rdi)
	vmovapd %ymm9, 2208(%rdi)
	vzeroupper
	ret
	.p2align 6
.Lfma_square_91:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_91+128(%rip), %r14
	2:
	vmovapd (%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 288(%r9)
	vmovapd 32(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 320(%r9)
	vmovapd 64(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 352(%r9)
	vmovapd 96(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 384(%r9)
	vmovapd 128(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 416(%r9)
	vmovapd 160(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 448(%r9)
	vmovapd 192(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 480(%r9)
	vmovapd 224(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 512(%r9)
	vmovapd 256(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 544(%r9)
	vmovapd 288(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 576(%r9)
	vmovapd 320(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 608(%r9)
	vmovapd 352(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 640(%r9)
	vmovapd 384(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 672(%r9)
	vmovapd 416(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 704(%r9)
	vmovapd 448(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 736(%r9)
	vmovapd 480(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 768(%r9)
	vmovapd 512(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 800(%r9)
	vmovapd 544(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 832(%r9)
	vmovapd 576(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 864(%r9)
	vmovapd 608(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 896(%r9)
	vmovapd 640(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 928(%r9)
	vmovapd 672(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 960(%r9)
	vmovapd 704(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 992(%r9)
	vmovapd 736(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1024(%r9)
	vmovapd 768(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1056(%r9)
	vmovapd 800(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1088(%r9)
	vmovapd 832(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1120(%r9)
	vmovapd 864(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1152(%r9)
	vmovapd 896(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1184(%r9)
	vmovapd 928(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1216(%r9)
	vmovapd 960(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1248(%r9)
	vmovapd 992(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1280(%r9)
	vmovapd 1024(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1312(%r9)
	vmovapd 1056(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1344(%r9)
	vmovapd 1088(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1376(%r9)
	vmovapd 1120(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1408(%r9)
	vmovapd 1152(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1440(%r9)
	vmovapd 1184(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1472(%r9)
	vmovapd 1216(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1504(%r9)
	vmovapd 1248(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1536(%r9)
	vmovapd 1280(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1568(%r9)
	vmovapd 1312(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1600(%r9)
	vmovapd 1344(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1632(%r9)
	vmovapd 1376(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1664(%r9)
	vmovapd 1408(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1696(%r9)
	vmovapd 1440(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1728(%r9)
	vmovapd 1472(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1760(%r9)
	vmovapd 1504(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1792(%r9)
	vmovapd 1536(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1824(%r9)
	vmovapd 1568(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1856(%r9)
	vmovapd 1600(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 1888(%r9)
	vmovapd 1632(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 1920(%r9)
	vmovapd 1664(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 1952(%r9)
	vmovapd 1696(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 1984(%r9)
	vmovapd 1728(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2016(%r9)
	vmovapd 1760(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2048(%r9)
	vmovapd 1792(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2080(%r9)
	vmovapd 1824(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2112(%r9)
	vmovapd 1856(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2144(%r9)
	vmovapd 1888(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2176(%r9)
	vmovapd 1920(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2208(%r9)
	vmovapd 1952(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2240(%r9)
	vmovapd 1984(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2272(%r9)
	vmovapd 2016(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2304(%r9)
	vmovapd 2048(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2336(%r9)
	vmovapd 2080(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2368(%r9)
	vmovapd 2112(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2400(%r9)
	vmovapd 2144(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2432(%r9)
	vmovapd 2176(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2464(%r9)
	vmovapd 2208(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2496(%r9)
	vmovapd 2240(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2528(%r9)
	vmovapd 2272(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2560(%r9)
	vmovapd 2304(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2592(%r9)
	vmovapd 2336(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2624(%r9)
	vmovapd 2368(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2656(%r9)
	vmovapd 2400(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2688(%r9)
	vmovapd 2432(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2720(%r9)
	vmovapd 2464(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2752(%r9)
	vmovapd 2496(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2784(%r9)
	vmovapd 2528(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2816(%r9)
	vmovapd 2560(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2848(%r9)
	vmovapd 2592(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 2880(%r9)
	vmovapd 2624(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 2912(%r9)
	vmovapd 2656(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 2944(%r9)
	vmovapd 2688(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 2976(%r9)
	vmovapd 2720(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 3008(%r9)
	vmovapd 2752(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 3040(%r9)
	vmovapd 2784(%rsi), %ymm3
	vaddpd %ymm3, %ymm3, %ymm3
	vmovapd %ymm3, 3072(%r9)
	vmovapd 2816(%rsi), %ymm0
	vaddpd %ymm0, %ymm0, %ymm0
	vmovapd %ymm0, 3104(%r9)
	vmovapd 2848(%rsi), %ymm1
	vaddpd %ymm1, %ymm1, %ymm1
	vmovapd %ymm1, 3136(%r9)
	vmovapd 2880(%rsi), %ymm2
	vaddpd %ymm2, %ymm2, %ymm2
	vmovapd %ymm2, 3168(%r9)
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 3200(%r9), %rbx
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_low
	call .Lfma7_finish
	lea 288(%r9), %r10
	lea (%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 512(%r9), %r10
	lea 224(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 736(%r9), %r10
	lea 448(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 960(%r9), %r10
	lea 672(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1184(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1184(%r9), %r10
	lea 896(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1408(%r9), %r10
	lea 1120(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1632(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_square_low
	lea 288(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 512(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1632(%r9), %r10
	lea 1344(%rsi), %r11
	call .Lfma7_square_high
	lea 288(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 512(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 736(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	lea 1632(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 1856(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_square_low
	lea 512(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 736(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 960(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1632(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 1856(%r9), %r10
	lea 1568(%rsi), %r11
	call .Lfma7_square_high
	lea 736(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 960(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 1184(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 1632(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2080(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_square_low
	lea 960(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 1184(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 1408(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 1632(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 2080(%r9), %r10
	lea 1792(%rsi), %r11
	call .Lfma7_square_high
	lea 1184(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 1408(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 1632(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	lea 2080(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2304(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_square_low
	lea 1408(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 1632(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 1856(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 2080(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 2304(%r9), %r10
	lea 2016(%rsi), %r11
	call .Lfma7_square_high
	lea 1632(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 1856(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 2080(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	lea 2304(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_square_low
	lea 1856(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 2080(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 2304(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 2528(%r9), %r10
	lea 2240(%rsi), %r11
	call .Lfma7_square_high
	lea 2080(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 2304(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	lea 2528(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2752(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_square_low
	lea 2304(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 2528(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_full
	call .Lfma7_finish
	lea 2752(%r9), %r10
	lea 2464(%rsi), %r11
	call .Lfma7_square_high
	lea 2528(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	lea 2752(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 2976(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_square_low
	lea 2752(%r9), %r10
	lea 2912(%rsi), %r11
	call .Lfma7_high
	call .Lfma7_finish
	lea 2976(%r9), %r10
	lea 2688(%rsi), %r11
	call .Lfma7_square_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 9024(%r9), %rbx
	lea 3200(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2240(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5440(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2464(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 2240(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 5440(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5664(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2688(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 2464(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 2240(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 5440(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 5664(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5888(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 6080(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 9024(%r9), %r10
	lea 2880(%rcx), %r11
	mov $29, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 992(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -1024(%r11), %ymm10, %ymm4
	vmovapd 1952(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -1984(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 32(%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -64(%r11), %ymm9, %ymm3
	vmovapd 992(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -1024(%r11), %ymm10, %ymm4
	vmovapd 1952(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 6112(%r9), %r12
	call .Lfma7_start_from
	lea 9024(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9248(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 9472(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 9696(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 9920(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9248(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9472(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 9696(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 9920(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9472(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9696(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 9920(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9696(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9920(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9920(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10144(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10144(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10368(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10368(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10592(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10592(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10816(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10816(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11040(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11040(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11264(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11264(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11488(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11488(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11712(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11712(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	mov %rdi, %rsi
	dec %r13
	jnz 2b
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_product_91:
	push %rbx
	push %r12
	push %r13
	push %r14
	mov %rdx, %r13
	lea .Lfma_constants_91+128(%rip), %r14
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 3200(%r9), %rbx
	lea (%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea (%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full_first
	lea 224(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea (%r13), %r11
	call .Lfma7_low
	call .Lfma7_finish
	call .Lfma7_start
	lea (%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 224(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 448(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 224(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 224(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 448(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 672(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 448(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 448(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 672(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 896(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 672(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 672(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 896(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 1120(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 896(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 896(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 1120(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 1344(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 1120(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1120(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 1344(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 1568(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 1344(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1344(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 1568(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 1792(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 1568(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1568(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 1792(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 2016(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 1792(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 1792(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 2016(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 2240(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 2016(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 2016(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 2240(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 2464(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 2240(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 2240(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 2464(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	lea 2688(%rsi), %r10
	lea 2464(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 2464(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	lea 2688(%rsi), %r10
	lea 2688(%r13), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start
	lea 2688(%rsi), %r10
	lea 2912(%r13), %r11
	call .Lfma7_high
	call .Lfma7_finish
	vxorpd %xmm0, %xmm0, %xmm0
	vmovapd %ymm0, (%r9)
	vmovapd %ymm0, 32(%r9)
	lea 9024(%r9), %rbx
	lea 3200(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low_first
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2240(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5440(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2464(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 2240(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 5440(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5664(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	lea 3200(%r9), %r10
	lea 2688(%r8), %r11
	call .Lfma7_full_first
	lea 3424(%r9), %r10
	lea 2464(%r8), %r11
	call .Lfma7_full
	lea 3648(%r9), %r10
	lea 2240(%r8), %r11
	call .Lfma7_full
	lea 3872(%r9), %r10
	lea 2016(%r8), %r11
	call .Lfma7_full
	lea 4096(%r9), %r10
	lea 1792(%r8), %r11
	call .Lfma7_full
	lea 4320(%r9), %r10
	lea 1568(%r8), %r11
	call .Lfma7_full
	lea 4544(%r9), %r10
	lea 1344(%r8), %r11
	call .Lfma7_full
	lea 4768(%r9), %r10
	lea 1120(%r8), %r11
	call .Lfma7_full
	lea 4992(%r9), %r10
	lea 896(%r8), %r11
	call .Lfma7_full
	lea 5216(%r9), %r10
	lea 672(%r8), %r11
	call .Lfma7_full
	lea 5440(%r9), %r10
	lea 448(%r8), %r11
	call .Lfma7_full
	lea 5664(%r9), %r10
	lea 224(%r8), %r11
	call .Lfma7_full
	lea 5888(%r9), %r10
	lea (%r8), %r11
	call .Lfma7_low
	call .Lfma7_finish
	vmovapd -128(%r14), %ymm0
	vmovapd %ymm0, %ymm1
	vmovapd %ymm0, %ymm2
	vmovapd %ymm0, %ymm3
	vmovapd %ymm0, %ymm4
	vmovapd %ymm0, %ymm5
	vmovapd 6080(%r9), %ymm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	lea 9024(%r9), %r10
	lea 2880(%rcx), %r11
	mov $29, %eax
	1:
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 992(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -1024(%r11), %ymm10, %ymm4
	vmovapd 1952(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vfmadd231pd -1984(%r11), %ymm11, %ymm5
	add $32, %r10
	sub $32, %r11
	dec %eax
	jnz 1b
	vmovapd (%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd (%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -32(%r11), %ymm9, %ymm3
	vmovapd 32(%r10), %ymm9
	vmovapd %ymm0, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm0
	vsubpd %ymm0, %ymm12, %ymm12
	vfmadd231pd -32(%r11), %ymm9, %ymm12
	vaddpd %ymm12, %ymm6, %ymm6
	vfmadd231pd -64(%r11), %ymm9, %ymm3
	vmovapd 992(%r10), %ymm10
	vmovapd %ymm1, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm1
	vsubpd %ymm1, %ymm13, %ymm13
	vfmadd231pd -992(%r11), %ymm10, %ymm13
	vaddpd %ymm13, %ymm7, %ymm7
	vfmadd231pd -1024(%r11), %ymm10, %ymm4
	vmovapd 1952(%r10), %ymm11
	vmovapd %ymm2, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm2
	vsubpd %ymm2, %ymm14, %ymm14
	vfmadd231pd -1952(%r11), %ymm11, %ymm14
	vaddpd %ymm14, %ymm8, %ymm8
	vsubpd -128(%r14), %ymm0, %ymm0
	vsubpd -128(%r14), %ymm1, %ymm1
	vsubpd -128(%r14), %ymm2, %ymm2
	vsubpd -128(%r14), %ymm3, %ymm3
	vsubpd -128(%r14), %ymm4, %ymm4
	vsubpd -128(%r14), %ymm5, %ymm5
	vaddpd %ymm1, %ymm0, %ymm0
	vaddpd %ymm2, %ymm0, %ymm0
	vaddpd %ymm4, %ymm3, %ymm3
	vaddpd %ymm5, %ymm3, %ymm3
	vaddpd %ymm7, %ymm6, %ymm6
	vaddpd %ymm8, %ymm6, %ymm6
	vfmadd231pd -64(%r14), %ymm3, %ymm6
	vmovapd (%r14), %ymm1
	vfmadd231pd -64(%r14), %ymm6, %ymm1
	vsubpd (%r14), %ymm1, %ymm1
	vmovapd %ymm0, (%r9)
	vmovapd %ymm1, 32(%r9)
	mov %rdi, %rbx
	lea 6112(%r9), %r12
	call .Lfma7_start_from
	lea 9024(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9248(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 9472(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 9696(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 9920(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 224(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9248(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9472(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 9696(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 9920(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 448(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9472(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9696(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 9920(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 672(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9696(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 9920(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10144(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 896(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 9920(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10144(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10368(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1120(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10144(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10368(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10592(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1344(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10368(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10592(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 10816(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1568(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10592(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 10816(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11040(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 1792(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 10816(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11040(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11264(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 2016(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11040(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11264(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11488(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 2240(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11264(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11488(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	lea 11712(%r9), %r10
	lea 2464(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11488(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	lea 11712(%r9), %r10
	lea 2688(%rcx), %r11
	call .Lfma7_full
	call .Lfma7_finish
	call .Lfma7_start_from
	lea 11712(%r9), %r10
	lea 2912(%rcx), %r11
	call .Lfma7_high
	call .Lfma7_finish
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	vzeroupper
	ret
	.p2align 6
.Lfma_pick_91:
	vmovdqa (%rdx), %ymm15
	vpcmpeqd %ymm14, %ymm14, %ymm14
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea (%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, (%rdi)
	vmovapd %ymm1, 32(%rdi)
	vmovapd %ymm2, 64(%rdi)
	vmovapd %ymm3, 96(%rdi)
	vmovapd %ymm4, 128(%rdi)
	vmovapd %ymm5, 160(%rdi)
	vmovapd %ymm6, 192(%rdi)
	vmovapd %ymm7, 224(%rdi)
	vmovapd %ymm8, 256(%rdi)
	vmovapd %ymm9, 288(%rdi)
	vmovapd %ymm10, 320(%rdi)
	vmovapd %ymm11, 352(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 384(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 384(%rdi)
	vmovapd %ymm1, 416(%rdi)
	vmovapd %ymm2, 448(%rdi)
	vmovapd %ymm3, 480(%rdi)
	vmovapd %ymm4, 512(%rdi)
	vmovapd %ymm5, 544(%rdi)
	vmovapd %ymm6, 576(%rdi)
	vmovapd %ymm7, 608(%rdi)
	vmovapd %ymm8, 640(%rdi)
	vmovapd %ymm9, 672(%rdi)
	vmovapd %ymm10, 704(%rdi)
	vmovapd %ymm11, 736(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 768(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 768(%rdi)
	vmovapd %ymm1, 800(%rdi)
	vmovapd %ymm2, 832(%rdi)
	vmovapd %ymm3, 864(%rdi)
	vmovapd %ymm4, 896(%rdi)
	vmovapd %ymm5, 928(%rdi)
	vmovapd %ymm6, 960(%rdi)
	vmovapd %ymm7, 992(%rdi)
	vmovapd %ymm8, 1024(%rdi)
	vmovapd %ymm9, 1056(%rdi)
	vmovapd %ymm10, 1088(%rdi)
	vmovapd %ymm11, 1120(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 1152(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 1152(%rdi)
	vmovapd %ymm1, 1184(%rdi)
	vmovapd %ymm2, 1216(%rdi)
	vmovapd %ymm3, 1248(%rdi)
	vmovapd %ymm4, 1280(%rdi)
	vmovapd %ymm5, 1312(%rdi)
	vmovapd %ymm6, 1344(%rdi)
	vmovapd %ymm7, 1376(%rdi)
	vmovapd %ymm8, 1408(%rdi)
	vmovapd %ymm9, 1440(%rdi)
	vmovapd %ymm10, 1472(%rdi)
	vmovapd %ymm11, 1504(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 1536(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 1536(%rdi)
	vmovapd %ymm1, 1568(%rdi)
	vmovapd %ymm2, 1600(%rdi)
	vmovapd %ymm3, 1632(%rdi)
	vmovapd %ymm4, 1664(%rdi)
	vmovapd %ymm5, 1696(%rdi)
	vmovapd %ymm6, 1728(%rdi)
	vmovapd %ymm7, 1760(%rdi)
	vmovapd %ymm8, 1792(%rdi)
	vmovapd %ymm9, 1824(%rdi)
	vmovapd %ymm10, 1856(%rdi)
	vmovapd %ymm11, 1888(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 1920(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 1920(%rdi)
	vmovapd %ymm1, 1952(%rdi)
	vmovapd %ymm2, 1984(%rdi)
	vmovapd %ymm3, 2016(%rdi)
	vmovapd %ymm4, 2048(%rdi)
	vmovapd %ymm5, 2080(%rdi)
	vmovapd %ymm6, 2112(%rdi)
	vmovapd %ymm7, 2144(%rdi)
	vmovapd %ymm8, 2176(%rdi)
	vmovapd %ymm9, 2208(%rdi)
	vmovapd %ymm10, 2240(%rdi)
	vmovapd %ymm11, 2272(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vxorpd %xmm7, %xmm7, %xmm7
	vxorpd %xmm8, %xmm8, %xmm8
	vxorpd %xmm9, %xmm9, %xmm9
	vxorpd %xmm10, %xmm10, %xmm10
	vxorpd %xmm11, %xmm11, %xmm11
	vpxor %xmm13, %xmm13, %xmm13
	lea 2304(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	vblendvpd %ymm12, 224(%r10), %ymm7, %ymm7
	vblendvpd %ymm12, 256(%r10), %ymm8, %ymm8
	vblendvpd %ymm12, 288(%r10), %ymm9, %ymm9
	vblendvpd %ymm12, 320(%r10), %ymm10, %ymm10
	vblendvpd %ymm12, 352(%r10), %ymm11, %ymm11
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 2304(%rdi)
	vmovapd %ymm1, 2336(%rdi)
	vmovapd %ymm2, 2368(%rdi)
	vmovapd %ymm3, 2400(%rdi)
	vmovapd %ymm4, 2432(%rdi)
	vmovapd %ymm5, 2464(%rdi)
	vmovapd %ymm6, 2496(%rdi)
	vmovapd %ymm7, 2528(%rdi)
	vmovapd %ymm8, 2560(%rdi)
	vmovapd %ymm9, 2592(%rdi)
	vmovapd %ymm10, 2624(%rdi)
	vmovapd %ymm11, 2656(%rdi)
	vxorpd %xmm0, %xmm0, %xmm0
	vxorpd %xmm1, %xmm1, %xmm1
	vxorpd %xmm2, %xmm2, %xmm2
	vxorpd %xmm3, %xmm3, %xmm3
	vxorpd %xmm4, %xmm4, %xmm4
	vxorpd %xmm5, %xmm5, %xmm5
	vxorpd %xmm6, %xmm6, %xmm6
	vpxor %xmm13, %xmm13, %xmm13
	lea 2688(%rsi), %r10
	mov $32, %eax
	1:
	vpcmpeqq %ymm13, %ymm15, %ymm12
	vpsubq %ymm14, %ymm13, %ymm13
	vblendvpd %ymm12, (%r10), %ymm0, %ymm0
	vblendvpd %ymm12, 32(%r10), %ymm1, %ymm1
	vblendvpd %ymm12, 64(%r10), %ymm2, %ymm2
	vblendvpd %ymm12, 96(%r10), %ymm3, %ymm3
	vblendvpd %ymm12, 128(%r10), %ymm4, %ymm4
	vblendvpd %ymm12, 160(%r10), %ymm5, %ymm5
	vblendvpd %ymm12, 192(%r10), %ymm6, %ymm6
	add $2912, %r10
	dec %eax
	jnz 1b
	vmovapd %ymm0, 2688(%rdi)
	vmovapd %ymm1, 2720(%rdi)
	vmovapd %ymm2, 2752(%rdi)
	vmovapd %ymm3, 2784(%rdi)
	vmovapd %ymm4, 2816(%rdi)
	vmovapd %ymm5, 2848(%rdi)
	vmovapd %ymm6, 2880(%rdi)
	vzeroupper
	ret
	.p2align 6
.Lfma_constants_12:
	.quad 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000
	.quad 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.p2align 6
.Lfma_constants_21:
	.quad 0x4648000000000000, 0x4648000000000000, 0x4648000000000000, 0x4648000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.quad 0x3ce0000000000000, 0x3ce0000000000000, 0x3ce0000000000000, 0x3ce0000000000000
	.quad 0x4300000000000000, 0x4300000000000000, 0x4300000000000000, 0x4300000000000000
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.quad 0xc648000000000000, 0xc648000000000000, 0xc648000000000000, 0xc648000000000000
	.p2align 6
.Lfma_constants_35:
	.quad 0x4608000000000000, 0x4608000000000000, 0x4608000000000000, 0x4608000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.quad 0x3d20000000000000, 0x3d20000000000000, 0x3d20000000000000, 0x3d20000000000000
	.quad 0x42c0000000000000, 0x42c0000000000000, 0x42c0000000000000, 0x42c0000000000000
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.quad 0xc608000000000000, 0xc608000000000000, 0xc608000000000000, 0xc608000000000000
	.p2align 6
.Lfma_constants_45:
	.quad 0x4618000000000000, 0x4618000000000000, 0x4618000000000000, 0x4618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0x3d10000000000000, 0x3d10000000000000, 0x3d10000000000000, 0x3d10000000000000
	.quad 0x42d0000000000000, 0x42d0000000000000, 0x42d0000000000000, 0x42d0000000000000
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.p2align 6
.Lfma_constants_70:
	.quad 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000, 0x45f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000, 0x3d30000000000000
	.quad 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000, 0x42b0000000000000
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.quad 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000, 0xc5f8000000000000
	.p2align 6
.Lfma_constants_91:
	.quad 0x4618000000000000, 0x4618000000000000, 0x4618000000000000, 0x4618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0x3d10000000000000, 0x3d10000000000000, 0x3d10000000000000, 0x3d10000000000000
	.quad 0x42d0000000000000, 0x42d0000000000000, 0x42d0000000000000, 0x42d0000000000000
	.quad 0x4338000000000000, 0x4338000000000000, 0x4338000000000000, 0x4338000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
	.quad 0xc618000000000000, 0xc618000000000000, 0xc618000000000000, 0xc618000000000000
