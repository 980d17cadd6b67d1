// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Open files that travel with a message: the other side uses what this one may open, and needs no right to it
/// and no path (`SCM_RIGHTS`, unix(7)).
///
///     control message = length 8 | SOL_SOCKET 4 | SCM_RIGHTS 4 | descriptor 4…   in the machine's order
enum PassedDescriptors {
  /// The most that a message carries.
  static let limit = 2
  private static let headLength = MemoryLayout<cmsghdr>.size
  /// With room for `limit`, in whole words.
  private static let controlLength = headLength + (limit * 4 + 7) / 8 * 8

  /// What one call has brought.
  struct Received {
    /// Of bytes; as `recv` has it.
    var count: Int
    /// They belong to the caller, who closes them.
    var descriptors: [Int32] = []
    /// There are more than are taken. The kernel closes them.
    var hasLost = false
  }

  /// As `send` that does not wait, with descriptors, which stay open here.
  static func send(
    _ bytes: UnsafeRawBufferPointer, _ descriptors: [Int32], to socket: Int32
  ) -> Int {
    let length = headLength + descriptors.count * 4
    return withControl { control in
      control.storeBytes(of: length, as: Int.self)
      control.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      control.storeBytes(of: Int32(SCM_RIGHTS), toByteOffset: 12, as: Int32.self)
      for (number, descriptor) in descriptors.enumerated() {
        control.storeBytes(of: descriptor, toByteOffset: headLength + number * 4, as: Int32.self)
      }
      return withMessage(bytes, control, (length + 7) / 8 * 8) {
        sendmsg(socket, &$0, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
    }
  }

  /// As `recv` that does not wait.
  ///
  /// - Parameter takesThem: otherwise none ever gets a number in this process. Bytes that come with any
  ///   stay where they are: taking them would close the files, here and now, and one may be a socket that
  ///   lingers.
  static func receive(
    into bytes: UnsafeMutableRawBufferPointer, from socket: Int32, takesThem: Bool
  ) -> Received {
    guard !takesThem else { return receive(bytes[...], from: socket, room: controlLength) }
    let seen = receive(bytes[...], from: socket, room: 0, Int32(MSG_PEEK))
    guard seen.count > 0, !seen.hasLost else { return seen }
    // What has come meanwhile is behind these.
    return receive(bytes.prefix(seen.count), from: socket, room: 0)
  }

  private static func receive(
    _ bytes: Slice<UnsafeMutableRawBufferPointer>, from socket: Int32, room: Int,
    _ flags: Int32 = 0
  ) -> Received {
    withControl { control in
      var received = Received(count: -1)
      var used = 0
      received.count = withMessage(
        UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer(rebasing: bytes)), control, room
      ) {
        let count = recvmsg(socket, &$0, Int32(MSG_CMSG_CLOEXEC) | Int32(MSG_DONTWAIT) | flags)
        guard count >= 0 else { return count }
        used = Int($0.msg_controllen)
        received.hasLost = $0.msg_flags & Int32(MSG_CTRUNC) != 0
        return count
      }
      received.descriptors = found(in: control, used: used)
      return received
    }
  }

  private static func found(in control: UnsafeMutableRawBufferPointer, used: Int) -> [Int32] {
    guard used >= headLength, control.load(fromByteOffset: 8, as: Int32.self) == SOL_SOCKET,
      control.load(fromByteOffset: 12, as: Int32.self) == Int32(SCM_RIGHTS)
    else { return [] }
    let end = min(control.load(as: Int.self), used)
    return stride(from: headLength, to: end - 3, by: 4).map {
      control.load(fromByteOffset: $0, as: Int32.self)
    }
  }

  private static func withControl<R>(_ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    withUnsafeTemporaryAllocation(byteCount: controlLength, alignment: 8) { control in
      control.initializeMemory(as: UInt8.self, repeating: 0)
      return body(control)
    }
  }

  private static func withMessage(
    _ bytes: UnsafeRawBufferPointer, _ control: UnsafeMutableRawBufferPointer, _ length: Int,
    _ body: (inout msghdr) -> Int
  ) -> Int {
    var part = iovec(
      iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    return withUnsafeMutablePointer(to: &part) { part in
      var message = msghdr()
      message.msg_iov = part
      message.msg_iovlen = 1
      message.msg_control = control.baseAddress
      message.msg_controllen = numericCast(length)
      return body(&message)
    }
  }
}
