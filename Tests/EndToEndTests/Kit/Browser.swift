// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import ThreadkeeperSupport

/// A headless Chromium, driven by the DevTools protocol over a socket of its own. No port is opened.
///
/// Messages are JSON that a zero byte ends, on descriptors 3 and 4 of the browser (`--remote-debugging-pipe`):
/// https://chromedevtools.github.io/devtools-protocol/
final class Browser: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private struct State {
    var last = 0
    var read: [UInt8] = []
    /// What `confirm` was asked, in their order.
    var questions: [String] = []
  }

  /// For which the browser may say nothing, in milliseconds: it may have to share its processor with a build.
  private static let limit: Int32 = 120_000

  private let process: ChildProcess
  private let pipe: PrivatePipe
  private let state = Mutex(State())

  /// - Parameter directory: for its profile, and for what it writes.
  init(_ chromium: String, in directory: TemporaryDirectory) throws {
    pipe = try PrivatePipe()
    let arguments = [
      "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
      "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe",
      "--user-data-dir=\(directory.file("chromium"))", "about:blank",
    ]
    process = try ChildProcess(
      "/bin/sh", ["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >&2", chromium] + arguments,
      environment: [
        "LD_LIBRARY_PATH": DebianTool.libraries, "HOME": directory.path, "PATH": "/usr/bin:/bin",
        "TMPDIR": directory.path,
      ],
      streams: (
        .descriptor(pipe.writing), .descriptor(pipe.writing),
        .file(directory.file("chromium.log"))
      ))
    pipe.closeWriting()
  }

  /// A test that ends early leaves nothing running.
  deinit {
    pipe.closeReading()
    process.signal(SIGKILL)
  }

  /// What `confirm` was asked so far. Each is answered with yes.
  var questions: [String] { state.withLock { $0.questions } }

  /// Calls a method and waits for its result.
  ///
  /// - Parameters:
  ///   - parameters: JSON.
  ///   - session: of a page; nil: the browser itself.
  func call(
    _ method: String, _ parameters: String = "{}", session: String? = nil
  ) async throws -> JSON {
    try await SystemThread.result { [self] in
      try state.withLock { state in
        let id = try send(method, parameters, session, &state)
        while true {
          let message = try next(&state)
          if message["id"]?.number == Int64(id) {
            if let error = message["error"] {
              throw Failure(description: "\(method): \(error)")
            }
            return message["result"] ?? .null
          }
          if message["method"]?.text == "Page.javascriptDialogOpening" {
            state.questions.append(message["params"]?["message"]?.text ?? "")
            _ = try send(
              "Page.handleJavaScriptDialog", #"{"accept":true}"#, message["sessionId"]?.text,
              &state)
          }
        }
      }
    }
  }

  private func send(
    _ method: String, _ parameters: String, _ session: String?, _ state: inout State
  ) throws -> Int {
    state.last += 1
    let target = session.map { #","sessionId":"\#($0)""# } ?? ""
    let text = #"{"id":\#(state.last),"method":"\#(method)","params":\#(parameters)\#(target)}"#
    var bytes = (Array(text.utf8) + [0])[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes {
        Foundation.send(pipe.reading, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(description: "the browser has ended") }
      bytes.removeFirst(count)
    }
    return state.last
  }

  private func next(_ state: inout State) throws -> JSON {
    var searched = 0
    while true {
      if let end = state.read[searched...].firstIndex(of: 0) {
        let text = String(decoding: state.read[..<end], as: UTF8.self)
        state.read.removeSubrange(...end)
        guard let message = JSON(text) else { throw Failure(description: "no JSON: \(text)") }
        return message
      }
      searched = state.read.count
      var ready = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, Self.limit) > 0 else {
        throw Failure(description: "the browser does not answer")
      }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(pipe.reading, &bytes, bytes.count, 0)
      guard count > 0 else { throw Failure(description: "the browser has ended") }
      state.read += bytes.prefix(count)
    }
  }
}
