// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

@testable import Bridge

@Suite("Sequence numbers and ids")
struct SequenceWindowTests {
  /// The same rules over everything that ever came, without a window.
  private struct Model {
    var taken: Set<UInt64> = []
    var high: UInt64?

    mutating func take(_ number: UInt64) -> SequenceWindow.Verdict {
      guard let high else {
        self.high = number
        taken = [number]
        return .news
      }
      if number > high {
        self.high = number
        taken.insert(number)
        return .news
      }
      // Further back nobody remembers what came.
      let isRemembered = high - number < 64
      return isRemembered && !taken.insert(number).inserted ? .duplicate : .outOfOrder
    }
  }

  @Test("Agrees with a model that forgets nothing", arguments: 1...20 as ClosedRange<UInt64>)
  func model(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var window = SequenceWindow()
    var model = Model()
    var number = seed.isMultiple(of: 5) ? UInt64.max - 2_000 : UInt64(1_000)
    for step in 0..<3_000 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1: number = number == .max ? .max : number + 1
      case 2: number -= UInt64.random(in: 0...min(3, number), using: &generator)
      case 3: number -= UInt64.random(in: 0...min(70, number), using: &generator)
      case 4: number += UInt64.random(in: 0...min(70, .max - number), using: &generator)
      default: number = (model.high ?? number) == .max ? .max : (model.high ?? number) + 1
      }
      guard window.take(.sequence(number)) != model.take(number) else { continue }
      Issue.record("seed \(seed), step \(step), number \(number): \(window)")
      return
    }
  }

  @Test("The window's edge: 63 back is remembered, 64 back is not")
  func edge() {
    var window = SequenceWindow()
    #expect(window.take(.sequence(100)) == .news)
    #expect(window.take(.sequence(163)) == .news)
    #expect(window.take(.sequence(100)) == .duplicate)
    #expect(window.take(.sequence(164)) == .news)
    #expect(window.take(.sequence(100)) == .outOfOrder)
    #expect(window.take(.sequence(101)) == .outOfOrder)
    #expect(window.take(.sequence(101)) == .duplicate)
  }

  @Test("A leap of 63, 64, or to the end of all numbers keeps what is left in the window")
  func leaps() {
    for leap in [1, 63, 64, 65, 1_000, UInt64.max - 10] as [UInt64] {
      var window = SequenceWindow()
      _ = window.take(.sequence(10))
      #expect(window.take(.sequence(10 + leap)) == .news)
      #expect(window.take(.sequence(10)) == (leap < 64 ? .duplicate : .outOfOrder), "\(leap)")
      #expect(window.take(.sequence(10 + leap)) == .duplicate)
    }
  }

  @Test("Zero is a number like others")
  func zero() {
    var window = SequenceWindow()
    #expect(window.isEmpty)
    #expect(window.take(.sequence(0)) == .news)
    #expect(window.take(.sequence(0)) == .duplicate)
    #expect(window.take(.sequence(1)) == .news)
    #expect(window.take(.sequence(0)) == .duplicate)
    #expect(!window.isEmpty)
  }

  @Test("Without a number or an id everything is news")
  func none() {
    var window = SequenceWindow()
    for _ in 0..<3 { #expect(window.take(.none) == .news) }
    #expect(window.isEmpty)
  }

  @Test("The last eight ids are kept, and numbers do not disturb them")
  func identifiers() {
    var window = SequenceWindow()
    for index in 0..<8 {
      #expect(window.take(.identifier("e\(index)")) == .news)
      #expect(window.take(.sequence(UInt64(index))) == .news)
    }
    for index in 0..<8 { #expect(window.take(.identifier("e\(index)")) == .duplicate) }
    #expect(window.take(.identifier("e8")) == .news)
    #expect(window.take(.identifier("e0")) == .news)
    #expect(window.take(.identifier("e2")) == .duplicate)
  }

  @Test(
    "Ids are stored and read back as they came",
    arguments: [
      [], [""], ["", ""], ["a"], ["a", "b"], ["a\n", "b"], ["a", "\nb"], ["a\r", "b"], ["\r\n"],
      ["\\", "n"], ["\\n", "\n"], ["\\\\n"], ["\u{240A}"], ["a\u{0}b"], ["\u{301}x", "\u{301}"],
      ["安娜", "👩‍🚒"], ["\n", "", "\n\n"],
    ])
  func storedIdentifiers(identifiers: [String]) {
    var window = SequenceWindow()
    window.identifiers = identifiers
    let read = SequenceWindow.identifiers(window.identifierText)
    #expect(read.map { Array($0.utf8) } == identifiers.map { Array($0.utf8) })
  }
}
