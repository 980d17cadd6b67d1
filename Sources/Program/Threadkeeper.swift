import ThreadkeeperCLI

@main enum Threadkeeper { static func main() async { await ThreadkeeperCommand.runAndExit() } }
