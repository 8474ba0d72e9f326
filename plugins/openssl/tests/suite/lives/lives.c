/* What programs do with libcrypto that `openssl` does not: contexts of their own, threads, forks, unloading and loading again.
 * Usage: lives WHAT CONFIGURATION KEY. Ends with 0 where all was as it should be, else says what was not. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Declared here, so that no headers are needed: openssl/crypto.h, provider.h, bio.h, pem.h, evp.h of 3.0. */
typedef void *Handle;
extern Handle OSSL_LIB_CTX_new(void);
extern int OSSL_LIB_CTX_load_config(Handle, const char *);
extern void OSSL_LIB_CTX_free(Handle);
extern const char *OSSL_PROVIDER_get0_name(Handle);
extern Handle EVP_SIGNATURE_fetch(Handle, const char *, const char *);
extern Handle EVP_SIGNATURE_get0_provider(Handle);
extern void EVP_SIGNATURE_free(Handle);
extern int OSSL_PROVIDER_get_capabilities(Handle, const char *, int (*)(Handle, void *), void *);
extern Handle OSSL_DECODER_get0_provider(Handle);
extern void OSSL_DECODER_do_all_provided(Handle, void (*)(Handle, void *), void *);
extern const char *OpenSSL_version(int);
extern Handle BIO_new_file(const char *, const char *);
extern int BIO_free(Handle);
extern Handle PEM_read_bio_PrivateKey_ex(Handle, Handle *, Handle, Handle, Handle, const char *);
extern void EVP_PKEY_free(Handle);
extern Handle EVP_PKEY_CTX_get0_provider(Handle);
extern Handle EVP_MD_CTX_new(void);
extern void EVP_MD_CTX_free(Handle);
extern int EVP_DigestSignInit_ex(Handle, Handle *, const char *, Handle, const char *, Handle, Handle);
extern int EVP_DigestSign(Handle, unsigned char *, size_t *, const unsigned char *, size_t);
extern int EVP_DigestVerifyInit_ex(Handle, Handle *, const char *, Handle, const char *, Handle, Handle);
extern int EVP_DigestVerify(Handle, const unsigned char *, size_t, const unsigned char *, size_t);
extern int EVP_DigestUpdate(Handle, const void *, size_t);
extern int EVP_DigestSignFinal(Handle, unsigned char *, size_t *);
extern int EVP_MD_CTX_copy_ex(Handle, Handle);
extern int EVP_PKEY_CTX_set_rsa_padding(Handle, int);
extern Handle EVP_PKEY_Q_keygen(Handle, const char *, const char *, ...);
extern Handle EVP_PKEY_dup(Handle);
extern int EVP_PKEY_eq(Handle, Handle);
extern int EVP_PKEY_get_bn_param(Handle, const char *, Handle *);
extern int EVP_PKEY_set_utf8_string_param(Handle, const char *, const char *);
extern int EVP_PKEY_todata(Handle, int, Handle *);
extern void OSSL_PARAM_free(Handle);
extern Handle EVP_PKEY_CTX_new_from_name(Handle, const char *, const char *);
extern void EVP_PKEY_CTX_free(Handle);
extern int EVP_PKEY_fromdata_init(Handle);
extern int EVP_PKEY_fromdata(Handle, Handle *, int, Handle);
extern int i2d_PUBKEY(Handle, unsigned char **);
extern void BN_free(Handle);
extern void ERR_print_errors_fp(FILE *);

static void expect(int is_so, const char *what) {
    if (is_so) return;
    fprintf(stderr, "not so: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static int entries(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    expect(directory != NULL, path);
    while (readdir(directory) != NULL) count++;
    closedir(directory);
    return count - 2;
}

static int threads(void) { return entries("/proc/self/task"); }
static int descriptors(void) { return entries("/proc/self/fd"); }

struct life {
    Handle context;
    Handle key;
};

static Handle read_key(Handle context, const char *path) {
    Handle file = BIO_new_file(path, "r");
    expect(file != NULL, "the key's file is read");
    Handle key = PEM_read_bio_PrivateKey_ex(file, NULL, NULL, NULL, context, NULL);
    expect(key != NULL, "the key is read");
    BIO_free(file);
    return key;
}

static struct life begin(const char *configuration, const char *key) {
    struct life life = {OSSL_LIB_CTX_new(), NULL};
    expect(OSSL_LIB_CTX_load_config(life.context, configuration), "the configuration is loaded");
    life.key = read_key(life.context, key);
    return life;
}

static void end(struct life life) {
    EVP_PKEY_free(life.key);
    OSSL_LIB_CTX_free(life.context);
}

/* Signs by the provider, and has plain OpenSSL verify it. */
static void sign(struct life life, int number) {
    unsigned char message[32] = {(unsigned char)number, (unsigned char)(number >> 8)}, signature[1024];
    size_t len = sizeof signature;
    Handle context = EVP_MD_CTX_new(), used = NULL;
    expect(EVP_DigestSignInit_ex(context, &used, "SHA256", life.context, NULL, life.key, NULL) == 1, "signing begins");
    expect(strcmp(OSSL_PROVIDER_get0_name(EVP_PKEY_CTX_get0_provider(used)), "oarlock") == 0, "the provider signs");
    expect(EVP_DigestSign(context, signature, &len, message, sizeof message) == 1, "a signature is made");
    EVP_MD_CTX_free(context);
    context = EVP_MD_CTX_new();
    expect(EVP_DigestVerifyInit_ex(context, NULL, "SHA256", life.context, "provider=default", life.key, NULL) == 1,
           "verifying begins");
    expect(EVP_DigestVerify(context, signature, len, message, sizeof message) == 1, "the signature verifies");
    message[9] ^= 1;
    expect(EVP_DigestVerify(context, signature, len, message, sizeof message) != 1, "another message does not");
    EVP_MD_CTX_free(context);
}

static void *signs(void *life) {
    for (int number = 0; number < 40; number++) sign(*(struct life *)life, number);
    return NULL;
}

/* Nothing is started before the first job, and nothing is left behind the last context. */
static void loading(const char *configuration, const char *key) {
    int descriptors_before = descriptors();
    for (int round = 0; round < 5; round++) {
        struct life life = begin(configuration, key);
        expect(threads() == 1, "there is no thread before the first job");
        for (int number = 0; number < 3; number++) sign(life, number);
        end(life);
        expect(threads() == 1, "no thread is left");
        expect(descriptors() == descriptors_before, "no descriptor is left");
    }
}

/* Contexts, each with the provider loaded anew, and threads in each; one ends while the other goes on. */
static void contexts(const char *configuration, const char *key) {
    struct life lives[2] = {begin(configuration, key), begin(configuration, key)};
    pthread_t handles[8];
    for (int at = 0; at < 8; at++) expect(pthread_create(&handles[at], NULL, signs, &lives[at % 2]) == 0, "a thread starts");
    for (int at = 0; at < 8; at++) pthread_join(handles[at], NULL);
    end(lives[0]);
    sign(lives[1], 7);
    end(lives[1]);
    expect(threads() == 1, "no thread is left");
}

/* Children of a process that has signed sign too and end as programs do, and so does their parent. */
static void forks(const char *configuration, const char *key) {
    struct life life = begin(configuration, key);
    sign(life, 1);
    for (int child = 0; child < 3; child++) {
        pid_t id = fork();
        if (id == 0) {
            expect(threads() == 1, "a fork has one thread");
            for (int number = 0; number < 3; number++) sign(life, number);
            end(life);
            exit(0);
        }
        int status = 1;
        expect(waitpid(id, &status, 0) == id && WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child signs");
        sign(life, child);
    }
    /* Neither key nor context is freed: the process ends with them. */
}

static void has_number(Handle key, const char *name) {
    Handle number = NULL;
    expect(EVP_PKEY_get_bn_param(key, name, &number) == 1, name);
    BN_free(number);
}

/* Signs in parts, and again with a copy of the context; the default provider verifies both. A padding of 0 is the usual one. */
static void sign_in_parts(Handle library, Handle key, const char *digest, int padding) {
    unsigned char signatures[2][1024];
    size_t lens[2] = {sizeof signatures[0], sizeof signatures[1]};
    Handle contexts[2] = {EVP_MD_CTX_new(), EVP_MD_CTX_new()}, used = NULL;
    expect(EVP_DigestSignInit_ex(contexts[0], &used, digest, library, NULL, key, NULL) == 1, "signing begins");
    if (padding != 0) expect(EVP_PKEY_CTX_set_rsa_padding(used, padding) == 1, "the padding is set");
    expect(EVP_DigestUpdate(contexts[0], "mess", 4) == 1, "the first part");
    expect(EVP_MD_CTX_copy_ex(contexts[1], contexts[0]) == 1, "the context is copied");
    for (int at = 0; at < 2; at++) {
        size_t len = 0;
        expect(EVP_DigestUpdate(contexts[at], "age", 3) == 1, "the second part");
        expect(EVP_DigestSignFinal(contexts[at], NULL, &len) == 1 && len <= lens[at], "the length");
        expect(EVP_DigestSignFinal(contexts[at], signatures[at], &lens[at]) == 1, "a signature is made");
        EVP_MD_CTX_free(contexts[at]);
    }
    for (int at = 0; at < 2; at++) {
        Handle context = EVP_MD_CTX_new();
        const char *properties = at == 0 ? "provider=default" : NULL;
        expect(EVP_DigestVerifyInit_ex(context, &used, digest, library, properties, key, NULL) == 1, "verifying begins");
        if (padding != 0) expect(EVP_PKEY_CTX_set_rsa_padding(used, padding) == 1, "the padding is set");
        expect(EVP_DigestVerify(context, signatures[at], lens[at], (const unsigned char *)"message", 7) == 1,
               "the signature verifies");
        expect(EVP_DigestVerify(context, signatures[at], lens[at], (const unsigned char *)"messagf", 7) != 1,
               "another message does not");
        EVP_MD_CTX_free(context);
    }
}

/* Keys, digests and paddings that only the default provider has. */
static void others(const char *configuration, const char *key) {
    struct life life = begin(configuration, key);
    static const char *const curves[] = {"P-256", "P-384", "P-521", "secp256k1", "brainpoolP256r1"};
    for (int at = 0; at < 5; at++) {
        Handle made = EVP_PKEY_Q_keygen(life.context, NULL, "EC", curves[at]);
        expect(made != NULL, curves[at]);
        sign_in_parts(life.context, made, at % 2 ? "MD5" : "SHA256", 0);
        has_number(made, "qx");
        has_number(made, "order");
        has_number(made, "p");
        has_number(made, "priv");
        /* Made of numbers again, as programs make keys that they do not read from files. 0x87 is EVP_PKEY_KEYPAIR. */
        Handle numbers = NULL, again = NULL, context = EVP_PKEY_CTX_new_from_name(life.context, "EC", NULL);
        expect(EVP_PKEY_todata(made, 0x87, &numbers) == 1, "the numbers of the key");
        expect(EVP_PKEY_fromdata_init(context) == 1 && EVP_PKEY_fromdata(context, &again, 0x87, numbers) == 1,
               "a key is made of numbers");
        expect(EVP_PKEY_eq(made, again) == 1, "it is the same key");
        OSSL_PARAM_free(numbers);
        EVP_PKEY_CTX_free(context);
        /* A shorter form of the point: 8 or more bytes less. */
        int len = i2d_PUBKEY(again, NULL);
        expect(EVP_PKEY_set_utf8_string_param(again, "point-format", "compressed") == 1, "the form of points is set");
        expect(i2d_PUBKEY(again, NULL) <= len - 8, "the point is compressed");
        Handle copy = EVP_PKEY_dup(again);
        expect(copy != NULL && EVP_PKEY_eq(copy, made) == 1, "a copy is the same key");
        sign_in_parts(life.context, copy, "SHA256", 0);
        EVP_PKEY_free(copy);
        EVP_PKEY_free(again);
        EVP_PKEY_free(made);
    }
    static const char *const digests[] = {"SHA256", "MD5", "SHA512-256", "MD5-SHA1"};
    for (int at = 0; at < 4; at++) sign_in_parts(life.context, life.key, digests[at], 0);
    sign_in_parts(life.context, life.key, "SHA256", 5); /* RSA_X931_PADDING */
    sign_in_parts(life.context, life.key, "MD5", 6);    /* RSA_PKCS1_PSS_PADDING */
    sign_in_parts(life.context, life.key, "SHA256", 6);
    Handle made = EVP_PKEY_Q_keygen(life.context, NULL, "RSA", (size_t)1032);
    expect(made != NULL, "a new RSA key");
    has_number(made, "rsa-factor1");
    has_number(made, "rsa-coefficient1");
    sign_in_parts(life.context, made, "SHA256", 0);
    EVP_PKEY_free(made);
    end(life);
    expect(threads() == 1, "no thread is left");
}

static void count_ours(Handle decoder, void *count) {
    if (strcmp(OSSL_PROVIDER_get0_name(OSSL_DECODER_get0_provider(decoder)), "oarlock") == 0) ++*(int *)count;
}

static int decoders(struct life life) {
    int count = 0;
    OSSL_DECODER_do_all_provided(life.context, count_ours, &count);
    return count;
}

static int next_group(Handle group, void *nothing) {
    (void)group, (void)nothing;
    return 1;
}

/* A program that reads its keys, and then shows by its first SSL_CTX that it is one of TLS. */
static void groups(const char *configuration, const char *key) {
    struct life life = begin(configuration, key);
    /* 0 is OPENSSL_VERSION. */
    const char *version = OpenSSL_version(0);
    int is_old = strncmp(version, "OpenSSL 3.0.", 12) == 0 || strncmp(version, "OpenSSL 3.1.", 12) == 0;
    int before = decoders(life);
    expect(before > 50 && decoders(life) == before, "all decoders are listed");
    sign(life, 0);
    Handle signature = EVP_SIGNATURE_fetch(life.context, "RSA", "provider=oarlock");
    expect(signature != NULL, "signatures of the provider");
    Handle provider = EVP_SIGNATURE_get0_provider(signature);
    expect(OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", next_group, NULL) == 1, "groups are listed");
    EVP_SIGNATURE_free(signature);
    int after = decoders(life);
    expect(after == (is_old ? 4 : before), "old versions list four decoders to a program of TLS");
    /* Keys and references are still read. */
    EVP_PKEY_free(life.key);
    life.key = read_key(life.context, key);
    sign(life, 1);
    end(life);
}

int main(int count, char **words) {
    expect(count == 4, "usage: lives WHAT CONFIGURATION KEY");
    if (strcmp(words[1], "loading") == 0) loading(words[2], words[3]);
    else if (strcmp(words[1], "contexts") == 0) contexts(words[2], words[3]);
    else if (strcmp(words[1], "forks") == 0) forks(words[2], words[3]);
    else if (strcmp(words[1], "others") == 0) others(words[2], words[3]);
    else if (strcmp(words[1], "groups") == 0) groups(words[2], words[3]);
    else expect(0, "WHAT is loading, contexts, forks, groups or others");
    return 0;
}
