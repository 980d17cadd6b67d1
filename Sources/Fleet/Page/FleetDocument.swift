#if Fleet
import StatusPage

/// The page for operators: one document without a script, which a browser loads again every ten seconds.
enum FleetDocument {
  /// Shards that it lists.
  static let most = 2_000

  static func html(_ status: FleetStatus, nonce: String) -> String {
    let (fine, others) = (status.shards.filter(\.isServed), status.shards.filter { !$0.isServed })
    let shards = (others + fine).prefix(most).map { shard in
      [
        "\(shard.shard)", shard.isServed ? "served" : shard.state.replacing("_", with: " "), shard.node ?? "",
        number(shard.leaseAge), "\(shard.homes)", number(shard.routers), number(shard.alerts), number(shard.waiting),
        number(shard.commitMs),
      ]
    }
    let nodes = status.nodes.map { node in
      [
        node.name, node.isSilent ? "silent" : node.draining ? "drained" : "runs", node.address, node.version,
        "\(node.shards)", "\(node.capacity)", number(node.seenAgo),
      ]
    }
    return html(
      title: "threadkeeper fleet \(status.fleet.name)", nonce: nonce, verdict: verdict(status),
      main: table(
        "Shards",
        [
          "Shard", "State", "Node", "Lease renewed, s ago", "Homes", "Routers", "Alerts", "Messages that wait",
          "Commit, ms",
        ], shards) + table("Nodes", ["Node", "State", "Address", "Version", "Shards", "At most", "Seen, s ago"], nodes))
  }

  /// - Parameter verdict: `good`, `warn` or `bad`, and a sentence.
  static func html(title: String, nonce: String, verdict: (sign: String, text: String), main: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta http-equiv="refresh" content="10">
    <title>\(escaped(title))</title>
    <link rel="icon" href="data:,">
    <style nonce="\(nonce)">\(PageDocument.style)
    .wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
    th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line)}th{font-size:.85rem}</style>
    </head>
    <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header><h1>\(escaped(title))</h1>
    <div id="verdict" class="\(verdict.sign)"><span class="sign" aria-hidden="true"></span>\
    <p class="lead">\(escaped(verdict.text))</p></div></header>
    <main id="main" tabindex="-1">
    \(main)</main>
    </body>
    </html>

    """
  }

  static func verdict(_ status: FleetStatus) -> (sign: String, text: String) {
    let unserved = status.shards.count { !$0.isServed }
    guard unserved == 0 else { return ("bad", "\(unserved) of \(status.shards.count) shards are not served.") }
    guard let node = status.nodes.first(where: \.isSilent) else {
      return ("good", "All \(status.shards.count) shards are served.")
    }
    return ("warn", "All shards are served. The node \(node.name) gives no sign of life.")
  }

  private static func number(_ value: Int?) -> String { value.map { "\($0)" } ?? "" }
  private static func number(_ value: Double?) -> String { value.map { "\(($0 * 10).rounded() / 10)" } ?? "" }

  private static func table(_ title: String, _ heads: [String], _ rows: [[String]]) -> String {
    let id = "h-\(title.lowercased())"
    let head = heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
    let body = rows.map { row in "<tr>\(row.map { "<td>\(escaped($0))</td>" }.joined())</tr>\n" }.joined()
    return """
      <section aria-labelledby="\(id)"><h2 id="\(id)">\(title)</h2>
      <div class="wide card" tabindex="0"><table><tr>\(head)</tr>
      \(body)</table></div></section>

      """
  }

  /// Names come from others. By scalars: as a Character, a `<` may be one with what follows it.
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }
}

extension FleetStatus.Shard { var isServed: Bool { node != nil && state == "serving" } }
#endif
