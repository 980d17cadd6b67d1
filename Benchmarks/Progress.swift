import Foundation

/// Lines on standard error that say what is going on.
enum Progress { static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) } }
