import CLibMicroHTTPD

/// libmicrohttpd's functions. They stay loaded.
final class HTTPLibrary {
  let functions: UnsafePointer<MHDLibrary>

  /// - Parameter name: of the shared library.
  init(_ name: String) throws(PageObstacle) {
    let functions = UnsafeMutablePointer<MHDLibrary>.allocate(capacity: 1)
    self.functions = UnsafePointer(functions)
    if let reason = MHDLibraryLoad(functions, name) { throw .library(String(cString: reason)) }
  }

  deinit { functions.deallocate() }
}

/// A connection as libmicrohttpd has it.
struct HTTPHandle {
  /// What a stream has at a time for a client that knows no chunks (HTTP/1.0), in bytes.
  private static let block = 4_096

  let library: HTTPLibrary
  let pointer: OpaquePointer

  /// The first header with this name, in any case.
  func header(_ name: String) -> String? {
    library.functions.pointee.lookup_connection_value(pointer, .HEADER_KIND, name).map { String(cString: $0) }
  }

  /// Bytes of the first line and all headers.
  var headerBytes: Int { MHDHeaderSize(library.functions, pointer) }

  /// Nothing is read or written until it is resumed.
  func suspend() { library.functions.pointee.suspend_connection(pointer) }

  func resume() { library.functions.pointee.resume_connection(pointer) }

  /// Sends the headers, and the body, which for a viewer is read from the connection. HEAD gets none.
  ///
  /// - Returns: whether the reply is on its way.
  func answer(_ reply: PageReply, of connection: PageConnection) -> Bool {
    let functions = library.functions.pointee
    let response =
      if reply.viewer == nil {
        reply.body.withUnsafeBytes {
          functions.create_response_from_buffer(
            $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
        }
      } else {
        functions.create_response_from_callback(
          MHDSizeUnknown, Self.block,
          { context, _, buffer, room in
            guard let context, let buffer else { return MHDEndWithError }
            let connection = Unmanaged<PageConnection>.fromOpaque(context).takeUnretainedValue()
            switch connection.fill(UnsafeMutableRawBufferPointer(start: buffer, count: room)) {
            case .bytes(let count): return count
            case .wait:
              connection.suspend()
              return 0
            case .end: return MHDEndOfStream
            case .drop: return MHDEndWithError
            }
          }, Unmanaged.passUnretained(connection).toOpaque(), nil)
      }
    guard let response else { return false }
    defer { functions.destroy_response(response) }
    for (name, value) in SecurityHeaders.beside(reply.headers) + [("Connection", "close")] {
      _ = functions.add_response_header(response, name, value)
    }
    return functions.queue_response(pointer, UInt32(reply.status.rawValue), response) == .YES
  }
}
