// Decodes the YAML documents on standard input strictly into the Go types of their API, as an API server does with
// fieldValidation=Strict: unknown and miswritten fields, duplicate keys and wrong types are errors. Writes one JSON
// line a document.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"

	istionetworking "istio.io/api/networking/v1alpha3"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	inferencev1 "sigs.k8s.io/gateway-api-inference-extension/api/v1"
	inferencev1alpha2 "sigs.k8s.io/gateway-api-inference-extension/apix/v1alpha2"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1beta1 "sigs.k8s.io/gateway-api/apis/v1beta1"
	disaggregatedsetv1 "sigs.k8s.io/lws/api/disaggregatedset/v1"
	leaderworkersetv1 "sigs.k8s.io/lws/api/leaderworkerset/v1"
)

// result is what a line of output says. A kind that no module here has is not known, and so not checked.
type result struct {
	Document   int      `json:"document"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Name       string   `json:"name"`
	Known      bool     `json:"known"`
	Errors     []string `json:"errors"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(in io.Reader, out io.Writer) error {
	scheme, err := types()
	if err != nil {
		return err
	}
	options := serializer.SerializerOptions{Yaml: true, Strict: true}
	decoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, options)
	documents := yaml.NewYAMLReader(bufio.NewReader(in))
	lines := json.NewEncoder(out)
	for number := 0; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if plain, err := yaml.ToJSON(document); err == nil && bytes.Equal(plain, []byte("null")) {
			number--
			continue
		}
		if err := lines.Encode(decode(decoder, number, document)); err != nil {
			return err
		}
	}
}

func types() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme,
		networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme, resourcev1.AddToScheme,
		gatewayv1.Install, gatewayv1beta1.Install, inferencev1.Install, inferencev1alpha2.Install,
		leaderworkersetv1.AddToScheme, disaggregatedsetv1.AddToScheme, addIstio,
	)
	return scheme, builder.AddToScheme(scheme)
}

// destinationRule is Istio's message in a Kubernetes object. The message decodes itself: wrong types and enum values are
// errors, unknown fields are not.
type destinationRule struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              istionetworking.DestinationRule `json:"spec,omitempty"`
}

func (rule *destinationRule) DeepCopyObject() runtime.Object {
	return &destinationRule{rule.TypeMeta, *rule.ObjectMeta.DeepCopy(), *rule.Spec.DeepCopy()}
}

func addIstio(scheme *runtime.Scheme) error {
	for _, version := range []string{"v1", "v1beta1", "v1alpha3"} {
		kind := schema.GroupVersionKind{Group: "networking.istio.io", Version: version, Kind: "DestinationRule"}
		scheme.AddKnownTypeWithName(kind, &destinationRule{})
	}
	return nil
}

func decode(decoder runtime.Decoder, number int, document []byte) result {
	line := result{Document: number, Known: true, Errors: []string{}}
	object, kind, err := decoder.Decode(document, nil, nil)
	if kind != nil {
		line.APIVersion, line.Kind = kind.GroupVersion().String(), kind.Kind
	}
	if accessor, failed := meta.Accessor(object); object != nil && failed == nil {
		line.Name = accessor.GetName()
	}
	strict, isStrict := runtime.AsStrictDecodingError(err)
	switch {
	case err == nil:
	case runtime.IsNotRegisteredError(err):
		line.Known = false
	case isStrict:
		for _, fault := range strict.Errors() {
			line.Errors = append(line.Errors, fault.Error())
		}
	default:
		line.Errors = append(line.Errors, err.Error())
	}
	return line
}
