//! Tests that the manifests for Kubernetes fit its schemas, and that they configure a server that starts, fits its
//! memory, and stops in time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use oarlock_server::CryptoserverConfig;
use serde_json::Value;

const MANIFEST: &str = include_str!("../../../../../packaging/kubernetes.yaml");
const MONITORS: &str = include_str!("../../../../../packaging/servicemonitor.yaml");

/// Returns the text of a YAML block scalar: the lines after its key that are indented further.
fn block(manifest: &str, key: &str) -> String {
    let mut lines = manifest.lines();
    let head = lines.find(|line| line.trim() == format!("{key}: |")).expect("the manifest has the block");
    let indent = head.len() - head.trim_start().len() + 2;
    let is_within = |line: &&str| line.trim().is_empty() || line[..indent.min(line.len())].trim().is_empty();
    lines.take_while(is_within).map(|line| line.get(indent..).unwrap_or("").to_owned() + "\n").collect()
}

/// Returns the configuration in the manifest.
fn config() -> CryptoserverConfig {
    let text = block(MANIFEST, "oarlock.toml");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the text of the manifest between two others, of which the first stands in it once.
fn between(before: &str, after: &str) -> &'static str {
    let found: Vec<_> = MANIFEST.match_indices(before).collect();
    assert_eq!(found.len(), 1, "{before}");
    MANIFEST[found[0].0 + before.len()..].split_once(after).unwrap().0
}

/// Returns a number of MiB or GiB, as Kubernetes writes it.
fn bytes(text: &str) -> u64 {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "Gi" => 1 << 30,
        "Mi" => 1 << 20,
        unit => panic!("the unit {unit}"),
    };
    digits.parse::<u64>().unwrap() * unit
}

#[test]
fn configures_a_server_that_starts_in_the_manifest() {
    let (text, config) = (block(MANIFEST, "oarlock.toml"), config());
    config.check().unwrap();
    let listen = format!("{:?}", config.listen);
    for port in ["7443", "9464"] {
        assert!(listen.contains(port), "{listen}");
        assert!(MANIFEST.contains(&format!("containerPort: {port}")), "{port}");
    }
    // Every file in the configuration lies in a mounted volume.
    for path in text.split('"').filter(|word| word.starts_with("/etc/oarlock/")) {
        let is_mounted = ["tls", "keys"].iter().any(|volume| {
            let mount = format!("/etc/oarlock/{volume}");
            path.starts_with(&mount) && MANIFEST.contains(&format!("mountPath: {mount},"))
        });
        assert!(is_mounted, "{path}");
    }
    let image = between("image: ", "\n");
    assert!(image.contains('/') && image.contains("@sha256:"), "{image}");
}

#[test]
fn leaves_the_server_the_time_to_drain() {
    let seconds = |text: &str| text.trim().parse::<u64>().unwrap();
    let grace = seconds(between("terminationGracePeriodSeconds: ", "\n"));
    let wait = seconds(between("sleep: { seconds: ", "}"));
    // The last entries of the audit log may take five seconds: docs/cryptoserver/audit.md.
    let needed = wait + config().limits.max_drain_seconds + 5;
    assert!(grace > needed, "{grace} {needed}");
    // As long as docs/fleet.md says for clients that resolve the name again.
    assert_eq!((wait, seconds(between("minReadySeconds: ", "\n"))), (10, 10));
}

#[test]
fn keeps_the_server_below_the_memory_of_its_pod() {
    let config = config();
    assert!(config.audit.is_none(), "the queue of the audit log counts too");
    // docs/cryptoserver/limits.md: what clients can make the server use, and the memory at rest.
    let at_rest = oarlock::KNOWN_ENGINES.len() * (64 << 20);
    let needed = u64::try_from(config.limits.max_memory_bytes() + at_rest).unwrap();
    // A volume in memory is memory of the pod.
    let volume = bytes(between("sizeLimit: ", " }"));
    let limit = bytes(between("limits: { cpu: \"4\", memory: ", " }"));
    assert!(needed + volume < limit, "{needed} and {volume} of {limit} bytes");
    assert_eq!(bytes(between("requests: { cpu: \"4\", memory: ", " }")), limit);
}

#[test]
fn uses_only_existing_metrics_in_the_service_monitor() {
    let guide = include_str!("../../../../../docs/cryptoserver/metrics.md");
    let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let names = MONITORS.split(|letter| !is_of_name(letter)).filter(|word| word.starts_with("oarlock_"));
    let mut count = 0;
    for name in names {
        let counter = name.strip_prefix("oarlock_dispatcher_").and_then(|name| name.strip_suffix("_total"));
        assert!(guide.contains(&format!("`{}`", counter.unwrap_or(name))), "{name}");
        count += 1;
    }
    assert!(count > 5, "{count}");
    assert!(MONITORS.contains("port: metrics") && MANIFEST.contains("{ name: metrics, port: 9464"));
}

/// Returns the Python that has the schemas. Prints SKIPPED and returns None if there is none.
fn python() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let python = target.join("kubernetes-python/bin/python");
    if python.exists() {
        return Some(python);
    }
    println!("SKIPPED: no schemas of Kubernetes in {}: `make setup` installs them", python.display());
    None
}

/// Checks manifests as a version of Kubernetes reads them. Problems name `0.yaml`, `1.yaml` and so on.
fn check(python: &Path, version: &str, manifests: &[String]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peer/manifests.py");
    let mut command = Command::new(python);
    command.args([script, version]).current_dir(folder.path()).stdin(Stdio::null());
    for (number, manifest) in manifests.iter().enumerate() {
        let name = format!("{number}.yaml");
        fs::write(folder.path().join(&name), manifest).unwrap();
        command.arg(name);
    }
    command.output().unwrap()
}

/// Returns the documents of both manifests, which are valid.
fn documents(python: &Path, version: &str) -> Vec<Value> {
    let checked = check(python, version, &[MANIFEST, MONITORS].map(str::to_owned));
    assert!(checked.status.success(), "{version}: {}", String::from_utf8_lossy(&checked.stderr));
    let lines = String::from_utf8(checked.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The documents of both manifests, if the schemas are here. Reading them takes seconds.
static DOCUMENTS: LazyLock<Option<Vec<Value>>> =
    LazyLock::new(|| python().map(|python| documents(&python, "1.30")));

/// Returns the documents of both manifests. Prints SKIPPED and returns None if the schemas are not here.
fn parsed() -> Option<&'static [Value]> {
    if DOCUMENTS.is_none() {
        python();
    }
    DOCUMENTS.as_deref()
}

#[test]
fn the_manifests_fit_the_schemas() {
    let (Some(python), Some(documents_of_first)) = (python(), parsed()) else { return };
    let count =
        [MANIFEST, MONITORS].map(|manifest| manifest.matches("\nkind: ").count()).iter().sum::<usize>();
    assert_eq!(documents_of_first.len(), count);
    // The first version is the one that the manifest names, and this is the last one with a schema here.
    assert_eq!(documents(&python, "1.37"), documents_of_first);
}

#[test]
fn the_schemas_refuse_unknown_fields_and_wrong_types() {
    let Some(python) = python() else { return };
    let mistakes = [
        (MANIFEST, "readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true", "readOnlyRootFileSystem"),
        (MANIFEST, "replicas: 3", "replica: 3", "replica"),
        (MANIFEST, "minReadySeconds: 10", "minReadySeconds: ten", "ten"),
        (MANIFEST, "  policyTypes:", "  policyType:", "policyType"),
        (MANIFEST, "kind: PodDisruptionBudget", "kind: DisruptionBudget", "DisruptionBudget"),
        (MONITORS, "scrapeTimeout", "scrapeTimeouts", "scrapeTimeouts"),
        (MONITORS, "expr: oarlock", "expression: oarlock", "expr"),
    ];
    let manifests = mistakes.map(|(manifest, from, to, _)| {
        assert!(manifest.contains(from), "{from}");
        manifest.replace(from, to)
    });
    let refused = check(&python, "1.30", &manifests);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    for (number, (.., expected)) in mistakes.iter().enumerate() {
        let file = format!("{number}.yaml: ");
        assert!(
            said.lines().any(|line| line.starts_with(&file) && line.contains(expected)),
            "{number}: {said}"
        );
    }
}

/// The Pod Security Standard `restricted`, which the head of the manifest promises.
#[test]
fn the_pods_have_no_privileges() {
    let Some(documents) = parsed() else { return };
    let pod = &of_kind(documents, "Deployment")["spec"]["template"]["spec"];
    let (pod_context, containers) = (&pod["securityContext"], pod["containers"].as_array().unwrap());
    assert_eq!(
        (&pod_context["runAsNonRoot"], &pod_context["seccompProfile"]["type"]),
        (&true.into(), &"RuntimeDefault".into())
    );
    assert!(pod_context["runAsUser"].as_u64().unwrap() > 0 && pod_context["fsGroup"].as_u64().unwrap() > 0);
    for container in containers {
        let context = &container["securityContext"];
        assert_eq!(context["allowPrivilegeEscalation"], false);
        assert_eq!(context["readOnlyRootFilesystem"], true);
        assert_eq!(context["capabilities"]["drop"], serde_json::json!(["ALL"]));
    }
    for shared in ["hostNetwork", "hostPID", "hostIPC", "initContainers"] {
        assert!(pod[shared].is_null(), "{shared}");
    }
    for volume in pod["volumes"].as_array().unwrap() {
        assert!(["configMap", "secret", "emptyDir"].iter().any(|kind| !volume[kind].is_null()), "{volume}");
        // The server refuses secrets that others may read.
        assert!(volume["secret"].is_null() || volume["secret"]["defaultMode"] == 0o440, "{volume}");
    }
    assert_eq!(pod["automountServiceAccountToken"], false);
}

#[test]
fn traffic_comes_from_labelled_clients_and_from_monitoring_alone() {
    let Some(documents) = parsed() else { return };
    let policy = &of_kind(documents, "NetworkPolicy")["spec"];
    assert_eq!(policy["policyTypes"], serde_json::json!(["Ingress", "Egress"]));
    assert_eq!(policy["egress"], serde_json::json!([]));
    let rules = policy["ingress"].as_array().unwrap();
    let ports: Vec<_> = rules.iter().map(|rule| rule["ports"][0]["port"].as_str().unwrap()).collect();
    assert_eq!(ports, ["grpc", "metrics"]);
    for rule in rules {
        // An absent list of sources would mean all sources.
        assert_eq!((rule["from"].as_array().unwrap().len(), rule["ports"].as_array().unwrap().len()), (1, 1));
    }
    // Both selectors in one source: a pod with the label in a namespace with the label.
    for selector in ["namespaceSelector", "podSelector"] {
        assert_eq!(rules[0]["from"][0][selector]["matchLabels"]["oarlock.example.com/client"], "true");
    }
    // Everything selects the pods by the label that they have.
    let label = &of_kind(documents, "Deployment")["spec"]["template"]["metadata"]["labels"];
    let service = &of_kind(documents, "Service")["spec"];
    assert_eq!(service["clusterIP"], "None");
    for selector in [
        &policy["podSelector"]["matchLabels"],
        &service["selector"],
        &of_kind(documents, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        &of_kind(documents, "Deployment")["spec"]["selector"]["matchLabels"],
    ] {
        assert_eq!(selector, label);
    }
}

#[test]
fn the_alerts_of_the_operator_are_those_of_the_file_of_rules() {
    let Some(documents) = parsed() else { return };
    let groups = &of_kind(documents, "PrometheusRule")["spec"];
    let rules = include_str!("../../../../../packaging/prometheus-rules.yaml").replace(['\n', ' '], "");
    for rule in groups["groups"][0]["rules"].as_array().unwrap() {
        let [alert, expr] = ["alert", "expr"].map(|field| rule[field].as_str().unwrap().replace(' ', ""));
        let (_, expression) =
            rules.split_once(&format!("-alert:{alert}expr:")).expect("an alert of this name");
        assert!(expression.trim_start_matches(">-").starts_with(&expr), "{alert}");
        assert!(rule["labels"]["severity"].is_string(), "{alert}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.json");
    fs::write(&path, groups.to_string()).unwrap();
    match Command::new("promtool").args(["check", "rules"]).arg(&path).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => println!("SKIPPED: promtool: {error}"),
    }
}

/// Returns the one document of a kind.
fn of_kind<'a>(documents: &'a [Value], kind: &str) -> &'a Value {
    let found: Vec<_> = documents.iter().filter(|document| document["kind"] == kind).collect();
    assert_eq!(found.len(), 1, "{kind}");
    found[0]
}
