/** An error that the user can act on. Its message is a whole sentence. */
export class Failure extends Error {}
