// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestKit

/// Has each message with QoS 1 come twice on one connection, the second time marked as a duplicate, as after a lost
/// acknowledgement. The broker knows of one only, so it gets one acknowledgement.
final class PacketDoubler: Sendable {
  private struct State {
    var fromBroker: [UInt8] = []
    var fromDaemon: [UInt8] = []
    /// Acknowledgements that are to be kept back, by packet identifier. The first one passes, the second one does not,
    /// and the broker may use the identifier again in between.
    var isSecond: Set<UInt16> = []
  }

  private let state = Mutex(State())

  func fromBroker(_ bytes: [UInt8]) -> [UInt8] {
    state.withLock { state in
      state.fromBroker += bytes
      var result: [UInt8] = []
      while let packet = FakePacket.take(from: &state.fromBroker) {
        result += packet.bytes()
        if packet.kind == .publish, packet.publishIdentifier != 0 {
          result += packet.bytes(isDuplicate: true)
        }
      }
      return result
    }
  }

  func fromDaemon(_ bytes: [UInt8]) -> [UInt8] {
    state.withLock { state in
      state.fromDaemon += bytes
      var result: [UInt8] = []
      while let packet = FakePacket.take(from: &state.fromDaemon) {
        guard packet.kind == .acknowledgement, state.isSecond.remove(packet.identifier) != nil
        else {
          if packet.kind == .acknowledgement { state.isSecond.insert(packet.identifier) }
          result += packet.bytes()
          continue
        }
      }
      return result
    }
  }
}
