// Command controlplane is etcd, kube-apiserver, kube-controller-manager and kube-scheduler in one program, chosen by
// its first argument, so that tests can talk to a real API server on loopback without containers.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fail("name a component: etcd, apiserver, controller-manager, scheduler, or key FILE")
	}
	component := os.Args[1]
	os.Args = append(os.Args[:1], os.Args[2:]...)
	switch component {
	case "etcd":
		if err := runEtcd(os.Args[1:]); err != nil {
			fail(err.Error())
		}
	case "apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	case "key":
		if err := writeKey(os.Args[1:]); err != nil {
			fail(err.Error())
		}
	default:
		fail("no component is called " + component)
	}
}

// runEtcd serves a fresh store from the configuration file that the only argument names, until it is told to stop.
func runEtcd(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("etcd takes one argument, its configuration file")
	}
	config, err := embed.ConfigFromFile(arguments[0])
	if err != nil {
		return err
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	select {
	case <-stop:
		return nil
	case err := <-server.Err():
		return err
	}
}

// writeKey makes a key for service-account tokens, for one run of the tests.
func writeKey(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("key takes one argument, the file to write")
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(arguments[0], pem.EncodeToMemory(block), 0o600)
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
