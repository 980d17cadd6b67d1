// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import Testing

@testable import ThreadkeeperDaemon

@Suite("What an import names on its way to the client")
struct ExchangeNewsTests {
  private func steps(_ names: [ImportedName]) -> [ExchangeStep] {
    let news = ExchangeNews()
    for name in names { news.add(name) }
    var steps: [ExchangeStep] = []
    while let step = news.next() { steps.append(step) }
    return steps
  }

  @Test("Names that a message cannot hold are cut with a mark, and the reply fits into a message")
  func cut() throws {
    // What JSON makes the most of.
    let long = String(repeating: "\u{1}", count: 700_000)
    let steps = steps([
      .init(client: long), .init(consent: long),
      .init(conflict: ImportConflict(item: long, differs: ["secret"], removes: [long])),
      .init(conflict: ImportConflict(item: String(repeating: "ä", count: 400_000), differs: [])),
    ])
    let names = steps.compactMap(\.names).flatMap { $0 }
    try #require(names.count == 4)
    for step in steps { #expect(try JSONEncoder().encode(step).count < 500 << 10) }
    for name in [names[0].client, names[1].consent] {
      #expect(name?.hasPrefix("\u{1}\u{1}") == true && name?.hasSuffix("…") == true)
    }
    #expect(names[2].conflict?.differs == ["secret"])
    #expect(names[2].conflict?.removes.count == 1)
    #expect(names[3].conflict?.item.hasPrefix("ää") == true)
  }

  @Test("Names that fit come as they are, in as few replies as hold them")
  func whole() {
    let names = (0..<10).map { "\($0)" + String(repeating: "a", count: 20_000) }
    let steps = steps(names.map { ImportedName(consent: $0) })
    #expect(steps.compactMap(\.names).flatMap { $0 }.compactMap(\.consent) == names)
    #expect(steps.count == 4)
  }
}
