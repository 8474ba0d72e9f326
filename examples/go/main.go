// A client of the cryptoserver: signs, encrypts, and authenticates single values.
//
//	$ go generate ./...
//	$ go run . ~/.local/state/oarlock localhost:7443
//
// The directory has the certificates of the development set-up, which `oarlock serve` makes.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	pb "example.com/oarlock-client/oarlockv1"
)

//go:generate ./generate.sh

func connect(state, address string) *grpc.ClientConn {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(state, "client.pem"), filepath.Join(state, "client-key.pem"))
	check(err)
	ca, err := os.ReadFile(filepath.Join(state, "ca.pem"))
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: roots}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	check(err)
	return connection
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	connection := connect(os.Args[1], os.Args[2])
	defer connection.Close()
	server := pb.NewCryptoserverClient(connection)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	// A signature, and its verification.
	message := []byte("hello")
	scheme := &pb.Scheme{Kind: pb.Scheme_ECDSA_SIGN, Digest: pb.Digest_SHA256}
	signed, err := server.Sign(ctx, &pb.SignRequest{
		Key: "p256", Scheme: scheme, Input: &pb.SignRequest_Message{Message: message}})
	check(err)
	scheme = &pb.Scheme{Kind: pb.Scheme_ECDSA_VERIFY, Digest: pb.Digest_SHA256}
	verified, err := server.Verify(ctx, &pb.VerifyRequest{
		Key: &pb.VerifyRequest_Resident{Resident: "p256"}, Scheme: scheme,
		Input: &pb.VerifyRequest_Message{Message: message}, Signature: signed.Signature})
	check(err)
	fmt.Println("signature valid:", verified.IsValid)

	// Values under a symmetric key. Store KeyVersion beside the ciphertexts: it survives a rotation of the key.
	sealed, err := server.Encrypt(ctx, &pb.EncryptRequest{
		Key: "aes128", Aad: []byte("cards"),
		Plaintexts: [][]byte{[]byte("4111111111111111"), []byte("5555555555554444")}})
	check(err)
	opened, err := server.Decrypt(ctx, &pb.DecryptRequest{
		Key: "aes128", KeyVersion: sealed.KeyVersion, Aad: []byte("cards"), Ciphertexts: sealed.Ciphertexts})
	check(err)
	fmt.Printf("decrypted: %s %s\n", opened.Plaintexts[0], opened.Plaintexts[1])

	// A message authentication code.
	made, err := server.Mac(ctx, &pb.MacRequest{Key: "hmac", Messages: [][]byte{message}})
	check(err)
	compared, err := server.VerifyMac(ctx, &pb.VerifyMacRequest{Key: "hmac", Messages: [][]byte{message}, Macs: made.Macs})
	check(err)
	fmt.Println("code valid:", compared.AreValid[0])

	// What cannot be done ends with a status.
	_, err = server.Encrypt(ctx, &pb.EncryptRequest{Key: "absent", Plaintexts: [][]byte{message}})
	fmt.Println("absent key:", status.Code(err))
}
