// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTPTypes

/// Watches one connection: it is given one request, for so long, and is dropped when its client does not read.
///
/// One request a connection leaves nothing to keep alive, to pipeline or to smuggle. Who asks often, as monitoring does,
/// asks a few times a minute.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// Bytes that wait in the kernel for a client that does not read.
  private static let sendBuffer = 65_536

  private let table: ConnectionTable
  private let limits: PageLimits
  private var hasRequest = false
  private var isHealthCheck = false
  private var unwritten = 0
  private var isAnswered = false
  private var deadline: Scheduled<Void>?
  private var stall: Scheduled<Void>?

  init(table: ConnectionTable, limits: PageLimits) {
    self.table = table
    self.limits = limits
  }

  func handlerAdded(context: ChannelHandlerContext) {
    guard table.add(context.channel) else { return context.close(promise: nil) }
    _ = context.channel.setOption(.socketOption(.so_sndbuf), value: Self.sendBuffer)
    deadline = close(context, in: limits.requestSeconds)
  }

  func channelInactive(context: ChannelHandlerContext) {
    table.remove(context.channel)
    deadline?.cancel()
    stall?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(var head):
      guard !hasRequest else { return context.close(promise: nil) }
      hasRequest = true
      isHealthCheck = ["/healthz", "/readyz"].contains(head.path)
      // Hummingbird ends the connection after the answer to such a request.
      head.headerFields[.connection] = "close"
      context.fireChannelRead(wrapInboundOut(.head(head)))
    case .body:
      context.fireChannelRead(data)
    case .end:
      guard table.keep(context.channel, isHealthCheck: isHealthCheck) else {
        return context.close(promise: nil)
      }
      if !isAnswered { deadline?.cancel() }
      context.fireChannelRead(data)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The client sends nothing more. It may wait for its answer; but one that follows events has gone.
    if case .inputClosed? = event as? ChannelEvent {
      deadline?.cancel()
      deadline = close(context, in: limits.lingerSeconds)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
    if unwritten == 0 { watchForStall(context) }
    unwritten += 1
    let own = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    promise.futureResult.whenComplete { _ in
      let (guardian, context) = own.value
      guardian.stall?.cancel()
      guardian.unwritten -= 1
      if guardian.unwritten > 0 { guardian.watchForStall(context) }
    }
    if case .end = unwrapOutboundIn(data) {
      isAnswered = true
      deadline?.cancel()
      // What the client has not read by then, the stall ends.
      promise.futureResult.whenComplete { [limits] _ in
        let (guardian, context) = own.value
        guardian.deadline?.cancel()
        guardian.deadline = guardian.close(context, in: limits.lingerSeconds)
      }
    }
    context.write(data, promise: promise)
  }

  private func watchForStall(_ context: ChannelHandlerContext) {
    stall?.cancel()
    stall = close(context, in: limits.stallSeconds)
  }

  private func close(_ context: ChannelHandlerContext, in seconds: Int64) -> Scheduled<Void> {
    context.eventLoop.scheduleTask(in: .seconds(seconds)) { [channel = context.channel] in
      channel.close(promise: nil)
    }
  }
}
