// A client of Connect (https://connectrpc.com): it makes single calls in both formats that Connect has, JSON and
// Protocol Buffers, and prints their results.
//
//	$ go run . ~/.local/state/oarlock localhost:7443
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"connectrpc.com/connect"

	pb "example.com/oarlock-connect/oarlockv1"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// The client of HTTP with the certificates of the development set-up.
func secured(state string) *http.Client {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(state, "client.pem"), filepath.Join(state, "client-key.pem"))
	check(err)
	ca, err := os.ReadFile(filepath.Join(state, "ca.pem"))
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: roots}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
}

func call[Request, Response any](url string, request *Request, options ...connect.ClientOption) (*Response, error) {
	client := connect.NewClient[Request, Response](secured(os.Args[1]), url, options...)
	answer, err := client.CallUnary(context.Background(), connect.NewRequest(request))
	if err != nil {
		return nil, err
	}
	return answer.Msg, nil
}

func main() {
	url := "https://" + os.Args[2] + "/oarlock.v1.Cryptoserver/"
	for _, options := range [][]connect.ClientOption{{connect.WithProtoJSON()}, {}} {
		sealed, err := call[pb.EncryptRequest, pb.EncryptResponse](url+"Encrypt", &pb.EncryptRequest{
			Key: "aes128", Plaintexts: [][]byte{[]byte("4111111111111111"), {}}}, options...)
		check(err)
		opened, err := call[pb.DecryptRequest, pb.DecryptResponse](url+"Decrypt", &pb.DecryptRequest{
			Key: "aes128", KeyVersion: sealed.KeyVersion, Ciphertexts: sealed.Ciphertexts}, options...)
		check(err)
		fmt.Printf("decrypted: %q\n", opened.Plaintexts)
		_, err = call[pb.MacRequest, pb.MacResponse](url+"Mac", &pb.MacRequest{
			Key: "absent", Messages: [][]byte{{}}}, options...)
		var refusal *connect.Error
		if !errors.As(err, &refusal) {
			log.Fatal("it was not refused: ", err)
		}
		fmt.Println(refusal.Code(), refusal.Message() != "")
	}
}
