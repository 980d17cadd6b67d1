import Broker
import Foundation
import TestKit
import Testing

@Suite("Metrics", .inTurns, .timeLimit(.minutes(30))) struct MonitoringTests {
  private func names(in text: String) -> Set<String> {
    Set(
      text.matches(of: #/threadkeeper_[a-z_]+/#).map { String($0.output).replacing(#/_(bucket|sum|count)$/#, with: "") }
    )
  }

  @Test("Every metric is given, documented and sound, and the examples use none that is not") func documented()
    async throws
  {
    let running = try await RunningHome(hasPage: true)
    let hub = BorderRouter(number: 1)
    try await running.publish(
      hub.says("announce"), Publication(topic: "threadkeeper/in/border-router/announce", payload: Array("{".utf8)))
    var text = ""
    try await eventually("the metrics to show it") {
      text = try await RawAnswer.get("/metrics", port: Int(running.port), [RunningHome.shownToken]).body
      return text.contains(#"threadkeeper_alerts{home="home",alert="CredentialsMissing""#)
        && text.contains("threadkeeper_messages_rejected_total{code=")
        && text.contains("threadkeeper_publish_latency_seconds_count")
        && text.contains("threadkeeper_local_call_duration_seconds_count{")
    }
    for part in [
      // The installation has asked for the status to know that the daemon is ready.
      #"call_duration_seconds_count{method="io.threadkeeper.Status.Get"}"#,
      #"threadkeeper_routers{home="home",availability="online"} 1"#,
      #"threadkeeper_router_last_seen_timestamp_seconds{home="home",border_agent_id="\#(hub.agent)""#,
      "threadkeeper_broker_connected 1\n",
    ] { #expect(text.contains(part)) }
    for part in ["commit_duration_seconds_count 0\n", "batch_messages_count 0\n"] {
      #expect(!text.contains("threadkeeper_\(part)"))
    }
    try await running.stop()

    let page = names(in: try ProjectFiles.text(of: "docs/guides/monitoring.md"))
    let given = names(in: text)
    #expect(given.count > 15 && given.subtracting(page).isEmpty, "\(given.subtracting(page))")
    // Whether border routers are looked for depends on the machine.
    let missing = page.subtracting(given).subtracting(["threadkeeper_discovered_routers"])
    #expect(missing.isEmpty, "\(missing)")
    for file in try ProjectFiles.below("examples/prometheus") + ProjectFiles.below("examples/grafana") {
      let used = names(in: try ProjectFiles.text(of: file))
      #expect(used.subtracting(page).isEmpty, "\(file): \(used.subtracting(page))")
    }
    if let promtool = DebianTool.promtool {
      let result = try Program.run(promtool, ["check", "metrics"], input: Array(text.utf8))
      #expect(result.status == 0 && result.output == "", "\(result.output)")
    }
  }

  @Test(
    "promtool finds no fault in the rules and the configuration of the example",
    .enabled(if: DebianTool.promtool != nil)) func checkExamples() throws
  {
    let promtool = try #require(DebianTool.promtool)
    let folder = ProjectFiles.root.path + "/examples/prometheus"
    #expect(
      try Program.check(promtool, ["check", "rules", "\(folder)/threadkeeper.rules.yml"]).contains(
        "SUCCESS: 7 rules found"))
    try Program.check(promtool, ["check", "config", "\(folder)/prometheus.yml"])
  }

  @Test(
    "Two alerts that fire at once are two of Prometheus', each with its name", .enabled(if: DebianTool.promtool != nil))
  func rules() throws {
    let promtool = try #require(DebianTool.promtool)
    let directory = try TemporaryDirectory()
    let names = ["CredentialsMissing", "PreferredNetworkMismatch"]
    let series = names.map {
      #"{series: 'threadkeeper_alerts{home="home",alert="\#($0)",severity="warning"}', values: 1x5}"#
    }
    let expected = names.map {
      "{exp_labels: {home: home, alert: \($0), severity: warning}, exp_annotations: "
        + "{summary: \($0) fires in home, " + #"remedy: "`threadkeeper alerts` says for what, and what to do"}}"#
    }
    let text = """
      rule_files: [\(ProjectFiles.root.path)/examples/prometheus/threadkeeper.rules.yml]
      tests:
        - interval: 1m
          input_series: [\(series.joined(separator: ", "))]
          alert_rule_test:
            - eval_time: 3m
              alertname: ThreadkeeperAlert
              exp_alerts: [\(expected.joined(separator: ", "))]
      """
    try directory.put(text, "rules.test.yml")
    let result = try Program.run(promtool, ["test", "rules", directory.file("rules.test.yml")])
    #expect(result.status == 0, "\(result.output)\n\(text)")
  }

  @Test("The dashboard is JSON whose panels have expressions") func dashboard() throws {
    let dashboard = try #require(JSON(try ProjectFiles.text(of: "examples/grafana/threadkeeper.json")))
    let panels = dashboard["panels"]?.list ?? []
    #expect(panels.count > 5)
    for panel in panels {
      let targets = panel["targets"]?.list ?? []
      #expect(!targets.isEmpty && targets.allSatisfy { $0["expr"]?.text?.contains("threadkeeper_") == true })
    }
  }
}
