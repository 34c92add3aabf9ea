// Treats custom resources as an API server does, with the server's own code: prunes unknown fields, fills in defaults,
// validates against the structural schema and compares items of sets and maps. Reads one JSON request a line and writes
// one answer a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kubejson "k8s.io/apimachinery/pkg/util/json"
)

// request names a schema by key; the schema itself comes with the first request of that key.
type request struct {
	Key    string                           `json:"key"`
	Schema *apiextensionsv1.JSONSchemaProps `json:"schema"`
	Object json.RawMessage                  `json:"object"`
}

type fault struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

type answer struct {
	Unknown []string       `json:"unknown"`
	Faults  []fault        `json:"faults"`
	Object  map[string]any `json:"object"`
}

type kind struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(in io.Reader, out io.Writer) error {
	kinds := map[string]*kind{}
	requests := json.NewDecoder(bufio.NewReader(in))
	answers := json.NewEncoder(out)
	for {
		var asked request
		if err := requests.Decode(&asked); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if asked.Schema != nil {
			compiled, err := compile(asked.Schema)
			if err != nil {
				return fmt.Errorf("%s: %w", asked.Key, err)
			}
			kinds[asked.Key] = compiled
		}
		said, err := kinds[asked.Key].check(asked.Object)
		if err != nil {
			return fmt.Errorf("%s: %w", asked.Key, err)
		}
		if err := answers.Encode(said); err != nil {
			return err
		}
	}
}

func compile(given *apiextensionsv1.JSONSchemaProps) (*kind, error) {
	var internal apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(given, &internal, nil)
	if err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	return &kind{structural, validator}, err
}

func (k *kind) check(given []byte) (*answer, error) {
	said := &answer{Unknown: []string{}, Faults: []fault{}}
	// Whole numbers must become int64, as in the server.
	if err := kubejson.Unmarshal(given, &said.Object); err != nil {
		return nil, err
	}
	track := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	said.Unknown = append(said.Unknown, pruning.PruneWithOptions(said.Object, k.structural, true, track)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(said.Object, k.structural)
	defaulting.Default(said.Object, k.structural)
	errors := validation.ValidateCustomResource(nil, said.Object, k.validator)
	errors = append(errors, listtype.ValidateListSetsAndMaps(nil, k.structural, said.Object)...)
	for _, one := range errors {
		said.Faults = append(said.Faults, fault{one.Field, one.ErrorBody()})
	}
	return said, nil
}
