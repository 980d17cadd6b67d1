// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Testing

@testable import ThreadkeeperDaemon

@Suite("What an import names on its way to the client")
struct ExchangeNewsTests {
  private func steps(_ lines: [ImportList.Line]) -> [ExchangeStep] {
    let news = ExchangeNews()
    for line in lines { news.add(line) }
    var steps: [ExchangeStep] = []
    while let step = news.next() { steps.append(step) }
    return steps
  }

  @Test("Names that a message cannot hold are cut with a mark, and the reply fits into a message")
  func cut() throws {
    // What JSON makes the most of.
    let long = String(repeating: "\u{1}", count: 700_000)
    let steps = steps([
      .stayedOut(.init(what: .enrolment, name: long)),
      .takenOver(.init(what: .grant, name: long)),
      .conflict(ImportConflict(item: long, differs: ["secret"], removes: [long, long])),
      .conflict(ImportConflict(item: String(repeating: "ä", count: 400_000), differs: [])),
    ])
    let lines = steps.compactMap(\.names).flatMap(\.lines)
    try #require(lines.count == 4)
    for step in steps { #expect(try JSONEncoder().encode(step).count < 500 << 10) }
    for name in [lines[0].stayedOut?.name, lines[1].takenOver?.name] {
      #expect(name?.hasPrefix("\u{1}\u{1}") == true && name?.hasSuffix("…") == true)
    }
    #expect(lines[2].conflict?.differs == ["secret"])
    #expect(lines[2].conflict?.removes.count == 2)
    #expect(lines[3].conflict?.item.hasPrefix("ää") == true)
  }

  @Test("Names that fit come as they are, in as few replies as hold them")
  func whole() {
    let names = (0..<10).map { "\($0)" + String(repeating: "a", count: 20_000) }
    let steps = steps(names.map { .takenOver(.init(what: .grant, name: $0)) })
    #expect(steps.compactMap(\.names).flatMap(\.lines).compactMap(\.takenOver?.name) == names)
    #expect(steps.count == 4)
  }
}
