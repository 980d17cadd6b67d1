// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto

/// What the library's callbacks have told since it was last looked at. They copy and nothing else:
/// whatever follows happens after the library's function has returned.
final class HandleRecord {
  struct Answer {
    var code: Int32
    var sessionPresent: Bool
    var receiveMaximum: UInt16?
    var maximumPacketSize: UInt32?
    var isRetainAvailable = true
    var maximumQoS: UInt8?
    var areWildcardsAvailable = true
    var areSharesAvailable = true
    var sessionExpiry: UInt32?
    var serverKeepAlive: UInt16?
  }

  struct Published {
    var identifier: UInt16
    var code: Int32
    /// Told from inside a write: a QoS 0 packet has left. Otherwise a PUBACK has come.
    var wasWritten: Bool
  }

  struct Granted {
    var identifier: Int32
    var codes: [Int32]
  }

  var batch: IntakeBatch
  var answer: Answer?
  var granted: [Granted] = []
  var published: [Published] = []
  /// The code of the last disconnect callback: a reason of MQTT 5 when the broker sent DISCONNECT.
  var disconnectCode: Int32?
  /// What the library logged as an error; kept until the broker has answered.
  var errorLog: [String] = []
  /// Rises with every packet that a callback saw: a read that leaves it alone brought nothing.
  var packets: UInt = 0
  /// Which of the library's functions is running.
  var isWriting = false

  init(batch: IntakeBatch) {
    self.batch = batch
  }
}
