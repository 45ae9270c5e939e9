/** Runs a statement in the transaction of the migrations, and returns its rows. */
export type MigrationQuery = <Row = Readonly<Record<string, unknown>>>(
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Row[]>;
