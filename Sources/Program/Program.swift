import Threadkeeper

#if Fleet
import Fleet
#endif

@main enum Program {
  static func main() async {
    #if Fleet
    await ThreadkeeperCommand.runAndExit(with: .all)
    #else
    await ThreadkeeperCommand.runAndExit()
    #endif
  }
}
