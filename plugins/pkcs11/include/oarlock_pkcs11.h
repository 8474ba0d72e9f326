/*
 * The interface "Vendor Oarlock", version 1.0: many operations in one call, and a descriptor for event loops.
 *
 * A program gets it by C_GetInterface("Vendor Oarlock", NULL, &interface, 0); pFunctionList is an O_FUNCTION_LIST.
 * The header needs no other one. If a PKCS#11 header was included before, its types are used.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef OARLOCK_PKCS11_H
#define OARLOCK_PKCS11_H

#include <stdint.h>

/* PKCS#11 headers define one of these: OASIS, p11-kit, and older ones. */
#if !defined(CRYPTOKI_VERSION_MAJOR) && !defined(CRYPTOKI_H) && !defined(_PKCS11T_H_) && !defined(PKCS11_H)
typedef unsigned char CK_BYTE;
typedef unsigned char CK_UTF8CHAR;
typedef unsigned long CK_ULONG;
typedef CK_ULONG CK_RV;
typedef CK_ULONG CK_FLAGS;
typedef CK_ULONG CK_SESSION_HANDLE;
typedef CK_ULONG CK_OBJECT_HANDLE;
typedef struct CK_VERSION {
    CK_BYTE major;
    CK_BYTE minor;
} CK_VERSION;
typedef struct CK_MECHANISM {
    CK_ULONG mechanism;
    void *pParameter;
    CK_ULONG ulParameterLen;
} CK_MECHANISM;
typedef struct CK_INTERFACE {
    CK_UTF8CHAR *pInterfaceName;
    void *pFunctionList;
    CK_FLAGS flags;
} CK_INTERFACE;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The inputs of one call: pieces of one buffer. */
typedef struct O_INPUTS {
    const CK_BYTE *pData;
    CK_ULONG ulDataLen;
    /* The number of pieces, at most 2^24. */
    CK_ULONG ulCount;
    /* Piece i begins at i * ulStride and has ulLen bytes. Unused if there are offsets. */
    CK_ULONG ulLen;
    CK_ULONG ulStride;
    /* NULL, or ulCount + 1 offsets: piece i lies between pOffsets[i] and pOffsets[i + 1]. */
    const uint64_t *pOffsets;
} O_INPUTS;

/* The outputs of one call. Output i begins at i * ulStride. They may replace the inputs. */
typedef struct O_OUTPUTS {
    CK_BYTE *pData;
    CK_ULONG ulDataLen;
    /* The distance of neighbours, which is also the space for each output. */
    CK_ULONG ulStride;
    /* ulCount lengths. If there is too little space, the length that is needed. */
    CK_ULONG *pLens;
    /* ulCount results: CKR_OK, CKR_BUFFER_TOO_SMALL, or the error of the operation. */
    CK_RV *pResults;
} O_OUTPUTS;

/*
 * Each function needs a session and leaves its active operations alone. It returns CKR_OK if the operations were
 * tried; pResults says how each of them ended.
 */
typedef struct O_FUNCTION_LIST {
    CK_VERSION version;

    /* Signs each input with one key. */
    CK_RV (*O_SignMany)(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key,
                        const O_INPUTS *inputs, const O_OUTPUTS *outputs);

    /* Verifies each signature; pResults[i] is CKR_OK or CKR_SIGNATURE_INVALID. */
    CK_RV (*O_VerifyMany)(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key,
                          const O_INPUTS *inputs, const O_INPUTS *signatures, CK_RV *results);

    /* Computes the authentication code of each input. */
    CK_RV (*O_MacMany)(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key,
                       const O_INPUTS *inputs, const O_OUTPUTS *outputs);

    /* Encrypts or decrypts each input. ivs is NULL, and then each operation has the IV of the mechanism; or it has the
       IVs of all operations side by side, each as long as that of the mechanism. */
    CK_RV (*O_EncryptMany)(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key,
                           const O_INPUTS *inputs, const CK_BYTE *ivs, CK_ULONG ivs_len,
                           const O_OUTPUTS *outputs);
    CK_RV (*O_DecryptMany)(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key,
                           const O_INPUTS *inputs, const CK_BYTE *ivs, CK_ULONG ivs_len,
                           const O_OUTPUTS *outputs);

    /* Returns a descriptor that is readable when an asynchronous call of the session may have finished. It lives as
       long as the session; C_AsyncComplete resets it. The program polls it and neither reads nor closes it. */
    CK_RV (*O_Descriptor)(CK_SESSION_HANDLE session, int *descriptor);
} O_FUNCTION_LIST;

#ifdef __cplusplus
}
#endif

#endif
