// SPDX-License-Identifier: Apache-2.0

// What both sockets share lies in VarlinkSocket, which is to take this one's place.
@_exported import VarlinkSocket

package typealias DaemonSocketError = SocketError
