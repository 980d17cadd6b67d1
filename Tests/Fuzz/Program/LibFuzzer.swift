/// `FuzzerDriver` of libFuzzer (llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library): it takes pointers and
/// returns an int, which Swift passes like C does.
@_silgen_name("LLVMFuzzerRunDriver") func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// libFuzzer's own main function needs it to be there, and is never called.
@_cdecl("LLVMFuzzerTestOneInput") func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt { 0 }
