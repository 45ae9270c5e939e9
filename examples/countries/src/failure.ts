/** Something that the person at the terminal can do something about; its message is a whole sentence. */
export class Failure extends Error {}
