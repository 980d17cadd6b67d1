// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LocalAPI

@Suite("Messages in a stream of bytes")
struct VarlinkFramesTests {
  @Test("They are the same however the bytes are portioned", arguments: [1, 2, 3, 7, 100])
  func portions(size: Int) throws {
    let bytes = Array("{}\u{0}{\"a\":1}\u{0}\u{0}rest".utf8)
    var frames = VarlinkFrames(limit: 7)
    var found: [String] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      frames.append(bytes[start..<min(start + size, bytes.count)])
      while let message = try frames.next() {
        found.append(String(decoding: message, as: UTF8.self))
      }
    }
    #expect(found == ["{}", "{\"a\":1}", ""])
    frames.append([0])
    #expect(try frames.next() == Array("rest".utf8))
    #expect(try frames.next() == nil)
  }

  @Test("One of as many bytes as the limit is read, a larger one is refused", arguments: [0, 1])
  func limit(surplus: Int) throws {
    var frames = VarlinkFrames(limit: 10)
    frames.append([UInt8](repeating: 1, count: 10 + surplus) + [0])
    if surplus == 0 {
      #expect(try frames.next()?.count == 10)
    } else {
      let error = #expect(throws: SocketError.self) { try frames.next() }
      #expect(error?.reason == .tooLarge)
    }
  }

  @Test("One that never ends is refused as soon as it is too large")
  func endless() throws {
    var frames = VarlinkFrames(limit: 10)
    frames.append([UInt8](repeating: 1, count: 10))
    #expect(try frames.next() == nil)
    frames.append([1])
    let error = #expect(throws: SocketError.self) { try frames.next() }
    #expect(error?.reason == .tooLarge)
  }
}
