"""Checks manifests of Kubernetes by its schemas, and those of Prometheus's operator by its models. A field that they do
not know is an error. Prints each document as a line of JSON, and each problem on stderr.

    manifests.py VERSION FILE...
"""

import json
import sys

import kubernetes_validate
import yaml

MONITORING = "monitoring.coreos.com/v1"


def problem(document, version):
    """Returns what is wrong with a document, or None."""
    try:
        if document["apiVersion"] == MONITORING:
            # Takes seconds, and only here.
            from cloudcoil.models.prometheus_operator import v1 as operator

            model = getattr(operator, document["kind"]).model_validate(document)
            # The model drops fields that it does not know.
            known = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
            return None if known == document else f"unknown fields: {known} is all that is known of {document}"
        kubernetes_validate.validate(document, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        return f"{error.json_path}: {error.message}"
    except ValueError as error:
        return " ".join(str(error).split())
    except kubernetes_validate.SchemaNotFoundError as error:
        return error.message


def main(version, paths):
    problems = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for document in yaml.safe_load_all(file):
                print(json.dumps(document))
                found = problem(document, version)
                if found:
                    problems += 1
                    print(f"{path}: {document['kind']}: {found}", file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
