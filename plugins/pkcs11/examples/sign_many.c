/*
 * Signs many messages in one call, verifies them, and signs once more in an asynchronous session.
 *
 *   cc -Iplugins/pkcs11/include -o sign_many plugins/pkcs11/examples/sign_many.c -ldl
 *   ./sign_many target/release/oarlock-pkcs11.so LABEL COUNT
 *
 * The key with this label is an RSA key or a key on P-256, in the first slot, and needs no login.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oarlock_pkcs11.h"

/* The few names of PKCS#11 that this program needs. A program with a PKCS#11 header includes that instead. */
#define CKR_OK 0UL
#define CKR_PENDING 0x204UL
#define CKF_SERIAL_SESSION 4UL
#define CKF_ASYNC_SESSION 8UL
#define CKO_PUBLIC_KEY 2UL
#define CKO_PRIVATE_KEY 3UL
#define CKA_CLASS 0UL
#define CKA_LABEL 3UL
#define CKA_KEY_TYPE 0x100UL
#define CKK_RSA 0UL
#define CKM_SHA256_RSA_PKCS 0x40UL
#define CKM_ECDSA_SHA256 0x1044UL

typedef struct {
    CK_ULONG type;
    void *pValue;
    CK_ULONG ulValueLen;
} attribute;

typedef struct {
    CK_ULONG ulVersion;
    CK_BYTE *pValue;
    CK_ULONG ulValue;
    CK_OBJECT_HANDLE hObject;
    CK_OBJECT_HANDLE hAdditionalObject;
} async_data;

/* The functions are exported by name too, so that this program needs no table of the standard. */
#define FUNCTIONS(X)                                                                                        \
    X(C_Initialize, (void *))                                                                               \
    X(C_Finalize, (void *))                                                                                 \
    X(C_GetInterface, (CK_UTF8CHAR *, CK_VERSION *, CK_INTERFACE **, CK_FLAGS))                             \
    X(C_GetSlotList, (CK_BYTE, CK_ULONG *, CK_ULONG *))                                                     \
    X(C_OpenSession, (CK_ULONG, CK_FLAGS, void *, void *, CK_SESSION_HANDLE *))                             \
    X(C_FindObjectsInit, (CK_SESSION_HANDLE, attribute *, CK_ULONG))                                        \
    X(C_FindObjects, (CK_SESSION_HANDLE, CK_OBJECT_HANDLE *, CK_ULONG, CK_ULONG *))                         \
    X(C_FindObjectsFinal, (CK_SESSION_HANDLE))                                                              \
    X(C_GetAttributeValue, (CK_SESSION_HANDLE, CK_OBJECT_HANDLE, attribute *, CK_ULONG))                    \
    X(C_SignInit, (CK_SESSION_HANDLE, CK_MECHANISM *, CK_OBJECT_HANDLE))                                    \
    X(C_Sign, (CK_SESSION_HANDLE, CK_BYTE *, CK_ULONG, CK_BYTE *, CK_ULONG *))                              \
    X(C_AsyncComplete, (CK_SESSION_HANDLE, CK_UTF8CHAR *, async_data *))

#define DECLARE(name, arguments) static CK_RV(*name) arguments;
FUNCTIONS(DECLARE)

static void must(CK_RV result, const char *what)
{
    if (result != CKR_OK) {
        fprintf(stderr, "%s: 0x%lx\n", what, result);
        exit(1);
    }
}

static void load(const char *path)
{
    void *module = dlopen(path, RTLD_NOW);
    if (module == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define FIND(name, arguments)                                                                               \
    *(void **)&name = dlsym(module, #name);                                                                 \
    must(name == NULL, #name);
    FUNCTIONS(FIND)
}

static CK_OBJECT_HANDLE find(CK_SESSION_HANDLE session, CK_ULONG class, char *label)
{
    attribute template[] = {{CKA_CLASS, &class, sizeof class}, {CKA_LABEL, label, strlen(label)}};
    CK_OBJECT_HANDLE object = 0;
    CK_ULONG count = 0;
    must(C_FindObjectsInit(session, template, 2), "C_FindObjectsInit");
    must(C_FindObjects(session, &object, 1, &count), "C_FindObjects");
    must(C_FindObjectsFinal(session), "C_FindObjectsFinal");
    must(count != 1, "no key with this label");
    return object;
}

static CK_ULONG count_good(const CK_RV *results, CK_ULONG count)
{
    CK_ULONG good = 0;
    for (CK_ULONG i = 0; i < count; i++)
        good += results[i] == CKR_OK;
    return good;
}

/* Space for one message and one signature. */
#define MESSAGE 32UL
#define SIGNATURE 512UL

static void sign_once(const O_FUNCTION_LIST *many, CK_ULONG slot, CK_MECHANISM *mechanism, char *label)
{
    CK_SESSION_HANDLE session;
    int descriptor;
    CK_BYTE message[MESSAGE] = {1}, signature[SIGNATURE];
    CK_ULONG len = sizeof signature;
    async_data answer = {0};
    must(C_OpenSession(slot, CKF_SERIAL_SESSION | CKF_ASYNC_SESSION, NULL, NULL, &session), "C_OpenSession");
    must(many->O_Descriptor(session, &descriptor), "O_Descriptor");
    CK_OBJECT_HANDLE private_key = find(session, CKO_PRIVATE_KEY, label);
    must(C_SignInit(session, mechanism, private_key), "C_SignInit");
    CK_RV result = C_Sign(session, message, sizeof message, signature, &len);
    while (result == CKR_PENDING) {
        /* An event loop waits for many descriptors here. */
        struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
        must(poll(&wanted, 1, 60000) != 1, "poll");
        result = C_AsyncComplete(session, (CK_UTF8CHAR *)"C_Sign", &answer);
        len = answer.ulValue;
    }
    must(result, "C_AsyncComplete");
    O_INPUTS input = {message, sizeof message, 1, MESSAGE, MESSAGE, NULL};
    O_INPUTS made = {signature, len, 1, len, len, NULL};
    CK_RV verified = 1;
    CK_OBJECT_HANDLE public_key = find(session, CKO_PUBLIC_KEY, label);
    must(many->O_VerifyMany(session, mechanism, public_key, &input, &made, &verified), "O_VerifyMany");
    must(verified, "the asynchronous signature");
    printf("the asynchronous signature verifies\n");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: sign_many MODULE LABEL COUNT\n");
        return 2;
    }
    char *label = argv[2];
    CK_ULONG count = strtoul(argv[3], NULL, 10);
    load(argv[1]);
    must(C_Initialize(NULL), "C_Initialize");
    CK_INTERFACE *interface;
    must(C_GetInterface((CK_UTF8CHAR *)"Vendor Oarlock", NULL, &interface, 0), "C_GetInterface");
    const O_FUNCTION_LIST *many = interface->pFunctionList;

    CK_ULONG slots[16], slot_count = 16, key_type = 0;
    CK_SESSION_HANDLE session;
    must(C_GetSlotList(1, slots, &slot_count), "C_GetSlotList");
    must(slot_count == 0, "no slot");
    must(C_OpenSession(slots[0], CKF_SERIAL_SESSION, NULL, NULL, &session), "C_OpenSession");
    CK_OBJECT_HANDLE private_key = find(session, CKO_PRIVATE_KEY, label);
    CK_OBJECT_HANDLE public_key = find(session, CKO_PUBLIC_KEY, label);
    attribute type = {CKA_KEY_TYPE, &key_type, sizeof key_type};
    must(C_GetAttributeValue(session, private_key, &type, 1), "C_GetAttributeValue");
    CK_MECHANISM mechanism = {key_type == CKK_RSA ? CKM_SHA256_RSA_PKCS : CKM_ECDSA_SHA256, NULL, 0};

    CK_BYTE *messages = calloc(count, MESSAGE), *signatures = calloc(count, SIGNATURE);
    CK_ULONG *lens = calloc(count, sizeof *lens);
    CK_RV *results = calloc(count, sizeof *results);
    uint64_t *offsets = calloc(count + 1, sizeof *offsets);
    for (CK_ULONG i = 0; i < count; i++)
        memcpy(messages + i * MESSAGE, &i, sizeof i);

    O_INPUTS inputs = {messages, count * MESSAGE, count, MESSAGE, MESSAGE, NULL};
    O_OUTPUTS outputs = {signatures, count * SIGNATURE, SIGNATURE, lens, results};
    must(many->O_SignMany(session, &mechanism, private_key, &inputs, &outputs), "O_SignMany");
    must(count_good(results, count) != count, "some messages were not signed");

    /* Signatures of one key may differ in length, so they are packed and found by offsets. */
    for (CK_ULONG i = 0; i < count; i++) {
        memmove(signatures + offsets[i], signatures + i * SIGNATURE, lens[i]);
        offsets[i + 1] = offsets[i] + lens[i];
    }
    O_INPUTS packed = {signatures, offsets[count], count, 0, 0, offsets};
    must(many->O_VerifyMany(session, &mechanism, public_key, &inputs, &packed, results), "O_VerifyMany");
    printf("%lu of %lu signatures verify\n", count_good(results, count), count);

    messages[0] ^= 1;
    must(many->O_VerifyMany(session, &mechanism, public_key, &inputs, &packed, results), "O_VerifyMany");
    printf("%lu of %lu is rejected after a change\n", count - count_good(results, count), count);

    sign_once(many, slots[0], &mechanism, label);
    must(C_Finalize(NULL), "C_Finalize");
    free(messages);
    free(signatures);
    free(lens);
    free(results);
    free(offsets);
    return 0;
}
