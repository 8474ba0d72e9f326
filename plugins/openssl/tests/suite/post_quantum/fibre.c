/* ML-KEM, ML-DSA and the groups that join ML-KEM with a curve, within an ASYNC_JOB and without.
 * Usage: fibre CONFIGURATION [URI...]. With URIs, those of a key of ML-KEM-768 and one of ML-DSA-65, these keys are
 * used. Ends with 0 where all was as it should be, else says what was not. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declared here, so that no headers are needed: openssl/crypto.h, async.h, evp.h of 3.0. */
typedef void *Handle;
extern Handle OSSL_LIB_CTX_new(void);
extern int OSSL_LIB_CTX_load_config(Handle, const char *);
extern void OSSL_LIB_CTX_free(Handle);
extern Handle EVP_PKEY_CTX_new_from_name(Handle, const char *, const char *);
extern int EVP_PKEY_keygen_init(Handle);
extern int EVP_PKEY_generate(Handle, Handle *);
extern void EVP_PKEY_free(Handle);
extern int EVP_PKEY_set1_encoded_public_key(Handle, const unsigned char *, size_t);
extern size_t EVP_PKEY_get1_encoded_public_key(Handle, unsigned char **);
extern Handle EVP_PKEY_CTX_new_from_pkey(Handle, Handle, const char *);
extern void EVP_PKEY_CTX_free(Handle);
extern int EVP_PKEY_encapsulate_init(Handle, Handle);
extern int EVP_PKEY_encapsulate(Handle, unsigned char *, size_t *, unsigned char *, size_t *);
extern int EVP_PKEY_decapsulate_init(Handle, Handle);
extern int EVP_PKEY_decapsulate(Handle, unsigned char *, size_t *, const unsigned char *, size_t);
extern Handle OSSL_STORE_open_ex(const char *, Handle, const char *, Handle, Handle, Handle, Handle, Handle);
extern Handle OSSL_STORE_load(Handle);
extern Handle OSSL_STORE_INFO_get1_PKEY(Handle);
extern void OSSL_STORE_INFO_free(Handle);
extern int OSSL_STORE_close(Handle);
extern Handle EVP_MD_CTX_new(void);
extern void EVP_MD_CTX_free(Handle);
extern int EVP_DigestSignInit_ex(Handle, Handle *, const char *, Handle, const char *, Handle, Handle);
extern int EVP_DigestSign(Handle, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_DigestVerifyInit_ex(Handle, Handle *, const char *, Handle, const char *, Handle, Handle);
extern int EVP_DigestVerify(Handle, const unsigned char *, size_t, const unsigned char *, size_t);
extern void CRYPTO_free(Handle, const char *, int);
extern void ERR_print_errors_fp(FILE *);
extern void ERR_clear_error(void);
extern int ASYNC_start_job(Handle *, Handle, int *, int (*)(void *), void *, size_t);
extern Handle ASYNC_WAIT_CTX_new(void);
extern void ASYNC_WAIT_CTX_free(Handle);
extern int ASYNC_WAIT_CTX_get_all_fds(Handle, int *, size_t *);

enum { PAUSED = 2, FINISHED = 3 };

static void expect(int is_so, const char *what, const char *name) {
    if (is_so) return;
    fprintf(stderr, "%s: not so: %s\n", name, what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

struct work {
    Handle context;
    const char *name;
    /* Where the private key is, or NULL for a new one. */
    const char *uri;
};

static Handle generate(struct work *work) {
    Handle key = NULL, generation = EVP_PKEY_CTX_new_from_name(work->context, work->name, NULL);
    expect(generation != NULL, "the algorithm is known", work->name);
    expect(EVP_PKEY_keygen_init(generation) == 1, "a generation begins", work->name);
    expect(EVP_PKEY_generate(generation, &key) == 1, "a key is generated", work->name);
    EVP_PKEY_CTX_free(generation);
    return key;
}

static Handle private_key(struct work *work) {
    if (work->uri == NULL) return generate(work);
    Handle store = OSSL_STORE_open_ex(work->uri, work->context, NULL, NULL, NULL, NULL, NULL, NULL);
    expect(store != NULL, "the URI is opened", work->uri);
    Handle information = OSSL_STORE_load(store);
    expect(information != NULL, "something is there", work->uri);
    Handle key = OSSL_STORE_INFO_get1_PKEY(information);
    expect(key != NULL, "it is a key", work->uri);
    OSSL_STORE_INFO_free(information);
    OSSL_STORE_close(store);
    return key;
}

/* Encapsulates for a key and decapsulates, and gives both wrong inputs. */
static int kem(void *argument) {
    struct work *work = *(struct work **)argument;
    const char *name = work->name;
    unsigned char ciphertext[2048], secret[128], other[128], *public = NULL;
    size_t len = sizeof ciphertext, secret_len = sizeof secret, other_len = sizeof other;
    Handle key = private_key(work);
    size_t public_len = EVP_PKEY_get1_encoded_public_key(key, &public);
    expect(public_len > 0, "it has a public key", name);
    Handle peer = generate(work);
    expect(EVP_PKEY_set1_encoded_public_key(peer, public, public_len) == 1, "the public key is set", name);

    Handle encapsulation = EVP_PKEY_CTX_new_from_pkey(work->context, peer, NULL);
    expect(EVP_PKEY_encapsulate_init(encapsulation, NULL) == 1, "an encapsulation begins", name);
    size_t asked = 0, asked_secret = 0;
    expect(EVP_PKEY_encapsulate(encapsulation, NULL, &asked, NULL, &asked_secret) == 1, "lengths", name);
    size_t small = asked - 1;
    expect(EVP_PKEY_encapsulate(encapsulation, ciphertext, &small, secret, &secret_len) != 1, "too small", name);
    expect(EVP_PKEY_encapsulate(encapsulation, ciphertext, &len, secret, &secret_len) == 1, "it ends", name);
    expect(len == asked && secret_len == asked_secret, "the lengths are those that were told", name);

    Handle decapsulation = EVP_PKEY_CTX_new_from_pkey(work->context, key, NULL);
    expect(EVP_PKEY_decapsulate_init(decapsulation, NULL) == 1, "a decapsulation begins", name);
    expect(EVP_PKEY_decapsulate(decapsulation, other, &other_len, ciphertext, len) == 1, "it ends", name);
    expect(other_len == secret_len && memcmp(secret, other, secret_len) == 0, "both secrets are equal", name);
    other_len = sizeof other;
    expect(EVP_PKEY_decapsulate(decapsulation, other, &other_len, ciphertext, len - 1) != 1, "short", name);
    other_len = secret_len - 1;
    expect(EVP_PKEY_decapsulate(decapsulation, other, &other_len, ciphertext, len) != 1, "too small", name);

    /* A public key does not decapsulate. */
    Handle wrong = EVP_PKEY_CTX_new_from_pkey(work->context, peer, NULL);
    expect(EVP_PKEY_decapsulate_init(wrong, NULL) != 1, "a public key is refused", name);
    expect(EVP_PKEY_set1_encoded_public_key(peer, public, public_len - 1) != 1, "a short key is refused", name);
    memset(public, 0xFF, public_len);
    expect(EVP_PKEY_set1_encoded_public_key(peer, public, public_len) != 1, "a large key is refused", name);
    ERR_clear_error();
    EVP_PKEY_CTX_free(wrong);
    EVP_PKEY_CTX_free(encapsulation);
    EVP_PKEY_CTX_free(decapsulation);
    EVP_PKEY_free(key);
    EVP_PKEY_free(peer);
    CRYPTO_free(public, "", 0);
    return 1;
}

/* Signs and verifies. */
static int sign(void *argument) {
    struct work *work = *(struct work **)argument;
    const char *name = work->name;
    static const unsigned char message[] = "a message";
    unsigned char signature[5000];
    size_t len = sizeof signature;
    Handle key = private_key(work);
    Handle signing = EVP_MD_CTX_new(), verifying = EVP_MD_CTX_new();
    expect(EVP_DigestSignInit_ex(signing, NULL, NULL, work->context, NULL, key, NULL) == 1, "a signature begins", name);
    expect(EVP_DigestSign(signing, signature, &len, message, sizeof message) == 1, "it ends", name);
    expect(EVP_DigestVerifyInit_ex(verifying, NULL, NULL, work->context, NULL, key, NULL) == 1, "a verification", name);
    expect(EVP_DigestVerify(verifying, signature, len, message, sizeof message) == 1, "it is valid", name);
    signature[len / 2] ^= 1;
    expect(EVP_DigestVerify(verifying, signature, len, message, sizeof message) != 1, "a changed one is not", name);
    expect(EVP_DigestVerify(verifying, signature, len - 1, message, sizeof message) != 1, "nor a short one", name);
    ERR_clear_error();
    EVP_MD_CTX_free(signing);
    EVP_MD_CTX_free(verifying);
    EVP_PKEY_free(key);
    return 1;
}

/* Runs work as a job and returns how often it paused. */
static int as_job(int (*function)(void *), struct work *work) {
    Handle job = NULL, waiting = ASYNC_WAIT_CTX_new();
    int result = 0, pauses = 0, status;
    while ((status = ASYNC_start_job(&job, waiting, &result, function, &work, sizeof work)) == PAUSED) {
        int descriptor = -1;
        size_t count = 1;
        expect(ASYNC_WAIT_CTX_get_all_fds(waiting, &descriptor, &count) == 1, "there is a descriptor", work->name);
        struct pollfd poll_for = {descriptor, POLLIN, 0};
        expect(poll(&poll_for, 1, 30000) == 1, "the job is woken", work->name);
        pauses++;
    }
    expect(status == FINISHED && result == 1, "the job ends", work->name);
    ASYNC_WAIT_CTX_free(waiting);
    return pauses;
}

/* Does work alone and as a job. Returns how often the job paused. */
static int both_ways(int (*function)(void *), struct work *work) {
    function(&work);
    return as_job(function, work);
}

int main(int count, char **arguments) {
    static const char *kems[] = {"X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024",
                                 "ML-KEM-512", "ML-KEM-768", "MLKEM1024"};
    static const char *signatures[] = {"ML-DSA-44", "MLDSA65", "2.16.840.1.101.3.4.3.19"};
    expect(count == 2 || count == 4, "CONFIGURATION [URI URI]", "usage");
    struct work work = {OSSL_LIB_CTX_new(), NULL, NULL};
    expect(OSSL_LIB_CTX_load_config(work.context, arguments[1]) == 1, "the configuration is loaded", arguments[1]);
    int pauses = 0;
    for (int round = 0; round < 5; round++) {
        if (count == 4) {
            work.name = "ML-KEM-768", work.uri = arguments[2];
            pauses += both_ways(kem, &work);
            work.name = "ML-DSA-65", work.uri = arguments[3];
            pauses += both_ways(sign, &work);
            continue;
        }
        for (size_t i = 0; i < sizeof kems / sizeof *kems; i++) {
            work.name = kems[i];
            pauses += both_ways(kem, &work);
        }
        for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
            work.name = signatures[i];
            pauses += both_ways(sign, &work);
        }
    }
    expect(pauses > 0, "jobs pause", "all");
    OSSL_LIB_CTX_free(work.context);
    return 0;
}
