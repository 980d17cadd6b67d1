// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LocalAPI

@Suite("What a connection keeps")
struct VarlinkSessionTests {
  private final class Kept: Sendable {}

  @Test("A value of a type is kept until the connection is over")
  func values() {
    let session = VarlinkSession()
    #expect(session.value(Int.self) == nil)
    session.keep(7)
    session.keep("text")
    session.keep(8)
    #expect(session.value(Int.self) == 8 && session.value(String.self) == "text")
    weak var kept: Kept?
    do {
      let value = Kept()
      session.keep(value)
      kept = value
    }
    #expect(kept != nil && !session.isOver)
    session.end()
    #expect(kept == nil && session.isOver && session.value(String.self) == nil)
    session.keep(9)
    #expect(session.value(Int.self) == nil)
  }
}
