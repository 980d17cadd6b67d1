import Glibc

/// One connection of a client. It has one request, so there is nothing to keep alive, to pipeline or to smuggle; who asks
/// often, as monitoring does, asks a few times a minute. It decides what comes next, and `PageLoop` has libmicrohttpd do it.
///
/// | state | input | step | next state |
/// |---|---|---|---|
/// | `headers` | the headers | go on | `body` |
/// | `headers` | too many, or a body of unknown length | answer | `answered` |
/// | `body` | a part of the body | go on | `body` |
/// | `body` | more of it than is discarded | drop | |
/// | `body` | its end | go on | `whole` |
/// | `body` | its end, and no place is left | drop | |
/// | `whole` | nothing new | wait, and ask for the reply | `waiting` |
/// | `waiting` | the reply | answer | `answered` |
///
/// In any state: dropped when its deadline has passed.
final class PageConnection {
  enum Step {
    case goOn
    case wait
    case answer(PageReply)
    case drop
  }

  /// What is sent next of a stream of events.
  enum Part: Equatable {
    /// So many bytes of a frame.
    case bytes(Int)
    case wait
    case end
    case drop
  }

  private enum State {
    case headers, body, whole, waiting, answered
    case replied(PageReply)
  }

  let number: UInt64
  let descriptor: Int32
  /// IP address of the client.
  let peer: String?
  var handle: HTTPHandle?
  /// Path and query as they came.
  var target = ""
  /// Nil while a viewer has all that there is.
  private(set) var deadline: ContinuousClock.Instant?
  private(set) var body: [UInt8] = []
  private var isSuspended = false
  private var isDropped = false

  private let limits: PageLimits
  private var state = State.headers
  private var received = 0
  private var viewer: Viewer?
  private var frame: ArraySlice<UInt8> = []
  /// What comes after it: the newest, because a viewer wants no other.
  private var nextFrame: [UInt8]?
  private var isOver = false

  init(number: UInt64, descriptor: Int32, peer: String?, limits: PageLimits) {
    self.number = number
    self.descriptor = descriptor
    self.peer = peer
    self.limits = limits
    deadline = .now + .seconds(limits.requestSeconds)
  }

  var isOverdue: Bool { deadline.map { $0 <= .now } ?? false }

  var isHealthCheck: Bool { target == "/healthz" || target == "/readyz" }

  /// Whether its client has got all that there is, and is to be noticed when it leaves.
  var isIdleViewer: Bool { viewer != nil && isSuspended }

  /// Whether the client has still to send something.
  var isReceiving: Bool {
    switch state {
    case .headers, .body: true
    case .whole, .waiting, .replied, .answered: false
    }
  }

  /// What is to be done when there is something new.
  ///
  /// - Parameters:
  ///   - part: of the body; empty with everything else.
  ///   - keepsPlace: whether there is a place for a whole request; asked once.
  func step(_ handle: HTTPHandle, part: UnsafeRawBufferPointer, keepsPlace: () -> Bool) -> Step {
    if isDropped { return .drop }
    switch state {
    case .headers:
      guard handle.headerBytes <= limits.headerBytes else {
        return answer(.text(.headersTooLarge, "the headers have at most \(limits.headerBytes) bytes"))
      }
      // libmicrohttpd would wait busily for the end of a long line between chunks.
      guard handle.header("Transfer-Encoding") == nil else {
        return answer(.text(.lengthRequired, "a request gives its length: `Content-Length`"))
      }
      state = .body
      return .goOn
    case .body where !part.isEmpty:
      received += part.count
      guard received <= limits.discardedBytes else { return .drop }
      if received <= limits.bodyBytes { body += part }
      return .goOn
    case .body:
      guard keepsPlace() else { return .drop }
      deadline = .now + .seconds(limits.replySeconds)
      state = .whole
      // Suspended only when it comes again: what is suspended while it reads, reads on when it is resumed, and takes a
      // client that only waits for its answer for gone.
      return .goOn
    case .whole:
      guard received <= limits.bodyBytes else {
        return answer(.text(.tooLarge, "a request has at most \(limits.bodyBytes) bytes"))
      }
      state = .waiting
      return .wait
    case .replied(let reply): return answer(reply)
    case .waiting, .answered: return .drop
    }
  }

  private func answer(_ reply: PageReply) -> Step {
    state = .answered
    expectReading()
    return .answer(reply)
  }

  func take(_ reply: PageReply) {
    state = .replied(reply)
    viewer = reply.viewer
    resume()
  }

  /// Another event for a viewer; nil: there will be none.
  func take(frame: [UInt8]?) {
    if let frame { nextFrame = frame } else { isOver = true }
    resume()
  }

  func suspend() {
    isSuspended = true
    handle?.suspend()
  }

  private func resume() {
    guard isSuspended else { return }
    isSuspended = false
    handle?.resume()
  }

  /// Libmicrohttpd closes it when it finds that nothing comes and goes any more.
  func drop() {
    guard !isDropped else { return }
    isDropped = true
    deadline = nil
    shutdown(descriptor, Int32(SHUT_RDWR))
    resume()
  }

  /// What a viewer is sent next. It has as long for each event as for a whole answer.
  func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Part {
    if isDropped { return .drop }
    if frame.isEmpty {
      if let next = nextFrame {
        (frame, nextFrame) = (next[...], nil)
      } else if !isOver {
        deadline = nil
        return .wait
      }
      expectReading()
    }
    if frame.isEmpty { return .end }
    let count = min(buffer.count, frame.count)
    buffer.copyBytes(from: frame.prefix(count))
    frame.removeFirst(count)
    return .bytes(count)
  }

  private func expectReading() { deadline = .now + .seconds(limits.stallSeconds) }

  /// It is over.
  func leave() { viewer?.leave() }
}
