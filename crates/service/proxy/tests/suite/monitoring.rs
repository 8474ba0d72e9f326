//! The board and the alerts of `packaging`: every metric of the proxy that they name is on its page.

use std::collections::HashSet;

use crate::proxied::{RunningProxy, TestAuthority, echo_backend};

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_of_the_proxy_that_the_board_and_the_alerts_name_exists() {
    let authority = TestAuthority::new();
    let proxy = RunningProxy::start(&authority, echo_backend().await, "").await;
    let page = proxy.page().await;
    let declared: HashSet<_> =
        page.lines().filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split_once(' ')?.0)).collect();
    for text in [
        include_str!("../../../../../packaging/prometheus-rules.yaml"),
        include_str!("../../../../../packaging/grafana-oarlock.json"),
    ] {
        let words = text.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        let named: HashSet<_> = words.filter(|word| word.starts_with("oarlock_proxy_")).collect();
        let absent: Vec<_> = named.difference(&declared).collect();
        assert!(named.len() >= 5 && absent.is_empty(), "{absent:?}");
    }
}
