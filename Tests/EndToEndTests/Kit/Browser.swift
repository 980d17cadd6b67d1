import Foundation
import Synchronization
import TestKit

/// A headless Chromium, driven by the DevTools protocol over a socket of its own. No port is opened. All tests of a process
/// share one, each with a tab of its own that knows nothing of the others: `BrowserTab`.
///
/// Messages are JSON that a zero byte ends, on descriptors 3 and 4 of the browser (`--remote-debugging-pipe`):
/// https://chromedevtools.github.io/devtools-protocol/
final class Browser: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  private typealias Answer = CheckedContinuation<JSON, any Error>

  private struct State {
    var last = 0
    var waiting: [Int: Answer] = [:]
    /// What `confirm` was asked, in their order, by the session of the page.
    var questions: [String: [String]] = [:]
    var hasEnded = false
  }

  /// Begins when it is first needed, and ends with the process.
  static let shared = Result { try Browser() }

  /// For which the browser may say nothing, in milliseconds: it may have to share its processor with a build.
  private static let limit: Int32 = 120_000

  private let directory: TemporaryDirectory
  private let process: ChildProcess
  private let pipe: PrivatePipe
  private let state = Mutex(State())
  private let sending = Mutex(())

  private init() throws {
    guard let chromium = DebianTool.chromium else { throw Failure(description: "no Chromium") }
    directory = try TemporaryDirectory()
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
      ], streams: (.descriptor(pipe.writing), .descriptor(pipe.writing), .file(directory.file("chromium.log"))))
    pipe.closeWriting()
    // A process that is killed closes the pipe, with which the browser ends as well.
    atexit { (try? Browser.shared.get())?.end() }
    Thread.detachNewThread { [self] in listen() }
  }

  private func end() {
    process.signal(SIGKILL)
    process.wait()
    try? FileManager.default.removeItem(atPath: directory.path)
  }

  /// What `confirm` was asked in a session so far. Each is answered with yes.
  func questions(of session: String) -> [String] { state.withLock { $0.questions[session] ?? [] } }

  /// Calls a method and waits for its result.
  ///
  /// - Parameters:
  ///   - parameters: JSON.
  ///   - session: of a page; nil: the browser itself.
  func call(_ method: String, _ parameters: String = "{}", session: String? = nil) async throws -> JSON {
    do { return try await withCheckedThrowingContinuation { send(method, parameters, session, answer: $0) } } catch let
      failure as Failure
    { throw Failure(description: "\(method): \(failure)") }
  }

  /// Calls a method whose result nobody waits for.
  func post(_ method: String, _ parameters: String, session: String? = nil) {
    send(method, parameters, session, answer: nil)
  }

  private func send(_ method: String, _ parameters: String, _ session: String?, answer: Answer?) {
    let id = state.withLock { state -> Int? in
      guard !state.hasEnded else { return nil }
      state.last += 1
      state.waiting[state.last] = answer
      return state.last
    }
    guard let id else {
      answer?.resume(throwing: Failure(description: "the browser has ended"))
      return
    }
    let target = session.map { #","sessionId":"\#($0)""# } ?? ""
    let text = #"{"id":\#(id),"method":"\#(method)","params":\#(parameters)\#(target)}"#
    let isSent = sending.withLock { _ in
      var bytes = (Array(text.utf8) + [0])[...]
      while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes {
          Foundation.send(pipe.reading, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        bytes.removeFirst(count)
      }
      return true
    }
    if !isSent { fail("the browser has ended") }
  }

  // MARK: What comes from it

  private func listen() {
    var read: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      var ready = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, Self.limit) > 0 else {
        fail("the browser does not answer")
        continue
      }
      let count = recv(pipe.reading, &bytes, bytes.count, 0)
      guard count > 0 else {
        state.withLock { $0.hasEnded = true }
        return fail("the browser has ended")
      }
      let searched = read.count
      read += bytes.prefix(count)
      var begin = read.startIndex
      while let end = read[max(begin, searched)...].firstIndex(of: 0) {
        take(String(decoding: read[begin..<end], as: UTF8.self))
        begin = end + 1
      }
      read.removeFirst(begin)
    }
  }

  private func take(_ text: String) {
    guard let message = JSON(text) else { return fail("no JSON: \(text)") }
    if let id = message["id"]?.number {
      let answer = state.withLock { $0.waiting.removeValue(forKey: Int(id)) }
      if let error = message["error"] {
        answer?.resume(throwing: Failure(description: "\(error)"))
      } else {
        answer?.resume(returning: message["result"] ?? .null)
      }
    } else if message["method"] == "Page.javascriptDialogOpening", let session = message["sessionId"]?.text {
      let question = message["params"]?["message"]?.text ?? ""
      state.withLock { $0.questions[session, default: []].append(question) }
      post("Page.handleJavaScriptDialog", #"{"accept":true}"#, session: session)
    }
  }

  /// All who wait are given up.
  private func fail(_ reason: String) {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting
    }
    for answer in waiting.values { answer.resume(throwing: Failure(description: reason)) }
  }
}
