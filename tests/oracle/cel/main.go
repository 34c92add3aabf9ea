// Compiles and evaluates CEL expressions in the environment of an API server, with the server's own libraries. Reads one
// JSON request a line and writes one answer a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strconv"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	dracel "k8s.io/dynamic-resource-allocation/cel"

	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
)

// request asks about an expression over `self`: of the schema that was sent under the key, or of any type.
type request struct {
	Text   string                           `json:"text"`
	Minor  uint                             `json:"minor"`
	Key    string                           `json:"key"`
	Schema *apiextensionsv1.JSONSchemaProps `json:"schema"`
	Self   json.RawMessage                  `json:"self"`
	// Device asks whether the text is a selector of devices; all but the text is left out then.
	Device bool `json:"device"`
}

// answer says why the expression was refused, or its type with its value or the error that evaluating it gave.
type answer struct {
	Refused string `json:"refused"`
	Type    string `json:"type"`
	Error   string `json:"error"`
	Value   any    `json:"value"`
}

type place struct {
	env        *cel.Env
	structural *schema.Structural
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(in io.Reader, out io.Writer) error {
	schemas := map[string]*schema.Structural{}
	places := map[string]*place{}
	requests := json.NewDecoder(bufio.NewReader(in))
	buffered := bufio.NewWriter(out)
	answers := json.NewEncoder(buffered)
	for {
		var asked request
		if err := requests.Decode(&asked); err == io.EOF {
			return buffered.Flush()
		} else if err != nil {
			return err
		}
		if asked.Device {
			compiled := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true})
			result := compiled.CompileCELExpression(asked.Text, dracel.Options{DisableCostEstimation: true})
			said := answer{}
			if result.Error != nil {
				said.Refused = result.Error.Error()
			}
			if err := answers.Encode(said); err != nil {
				return err
			}
			if err := buffered.Flush(); err != nil {
				return err
			}
			continue
		}
		if asked.Schema != nil {
			found, err := structural(asked.Schema)
			if err != nil {
				return err
			}
			schemas[asked.Key] = found
		}
		name := fmt.Sprintf("%d %s", asked.Minor, asked.Key)
		if places[name] == nil {
			made, err := newPlace(asked.Minor, schemas[asked.Key])
			if err != nil {
				return err
			}
			places[name] = made
		}
		if err := answers.Encode(places[name].answer(asked)); err != nil {
			return err
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
	}
}

func structural(given *apiextensionsv1.JSONSchemaProps) (*schema.Structural, error) {
	var internal apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(given, &internal, nil)
	if err != nil {
		return nil, err
	}
	return schema.NewStructural(&internal)
}

// newPlace is what a selector of devices has beside a rule of a CRD when there is no schema: cel.bind.
func newPlace(minor uint, of *schema.Structural) (*place, error) {
	options := []cel.EnvOption{}
	declared := []*apiservercel.DeclType{}
	if of == nil {
		options = append(options, cel.Variable("self", cel.DynType), ext.Bindings(ext.BindingsVersion(0)))
	} else {
		kind := model.SchemaDeclType(of, false).MaybeAssignTypeName("selfType")
		options = append(options, cel.Variable("self", kind.CelType()))
		declared = append(declared, kind)
	}
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
		DeclTypes:         declared,
	})
	if err != nil {
		return nil, err
	}
	env, err := set.Env(environment.NewExpressions)
	return &place{env, of}, err
}

func (p *place) answer(asked request) (said answer) {
	// The server itself does not recover from everything that its libraries do.
	defer func() {
		if fault := recover(); fault != nil {
			said = answer{Refused: fmt.Sprint("panic: ", fault)}
		}
	}()
	ast, issues := p.env.Compile(asked.Text)
	if issues.Err() != nil {
		return answer{Refused: issues.Err().Error()}
	}
	said.Type = ast.OutputType().String()
	program, err := p.env.Program(ast)
	if err != nil {
		return answer{Refused: "program: " + err.Error()}
	}
	var self any
	if err := kubejson.Unmarshal(asked.Self, &self); err != nil {
		return answer{Refused: "self: " + err.Error()}
	}
	if p.structural != nil {
		self = common.UnstructuredToVal(self, &model.Structural{Structural: p.structural})
	}
	value, _, err := program.Eval(map[string]any{schemacel.ScopedVarName: self})
	if err != nil {
		said.Error = err.Error()
		return said
	}
	said.Value = shown(value)
	return said
}

// shown is a value with its type, in a form that does not depend on the order of a map.
func shown(value ref.Val) any {
	switch found := value.(type) {
	case types.Bool:
		return []any{"bool", bool(found)}
	case types.Int:
		return []any{"int", strconv.FormatInt(int64(found), 10)}
	case types.Uint:
		return []any{"uint", strconv.FormatUint(uint64(found), 10)}
	case types.Double:
		if math.IsNaN(float64(found)) {
			return []any{"double", "nan"}
		}
		return []any{"double", strconv.FormatUint(math.Float64bits(float64(found)), 16)}
	case types.String:
		return []any{"string", string(found)}
	case types.Bytes:
		return []any{"bytes", fmt.Sprintf("%x", []byte(found))}
	case types.Null:
		return []any{"null"}
	case types.Duration:
		return []any{"duration", strconv.FormatInt(int64(found.Duration), 10)}
	case types.Timestamp:
		return []any{"timestamp", found.Time.UTC().Format(time.RFC3339Nano)}
	case *types.Type:
		return []any{"type", found.TypeName()}
	case *types.Optional:
		if !found.HasValue() {
			return []any{"optional"}
		}
		return []any{"optional", shown(found.GetValue())}
	case traits.Lister:
		items := []any{"list"}
		for it := found.Iterator(); it.HasNext() == types.True; {
			items = append(items, shown(it.Next()))
		}
		return items
	case traits.Mapper:
		entries := []string{}
		for it := found.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			written, _ := json.Marshal([]any{shown(key), shown(found.Get(key))})
			entries = append(entries, string(written))
		}
		sort.Strings(entries)
		return []any{"map", entries}
	case apiservercel.Quantity:
		return []any{"quantity", found.AsDec().String()}
	case *apiservercel.Quantity:
		// What adding and subtracting give.
		return []any{"quantity", found.AsDec().String()}
	}
	return []any{"other", fmt.Sprint(value.Value())}
}
