import { runCli } from '../processes/cli.ts';
import { commandEnvironmentOf, createGround, firstAdmin, type Ground } from './stack.ts';

/**
 * Creates a ground whose database was used without an encryption key; with a new database a start would create a key. It
 * has the first admin.
 */
export async function createKeylessGround(): Promise<Ground> {
  const ground = await createGround();
  const { code, stderr } = await runCli(['admin', 'create', firstAdmin.email, '--password-stdin'], {
    environment: commandEnvironmentOf(ground),
    input: firstAdmin.password,
  });
  if (code === 0) return ground;
  await ground.remove();
  throw new Error(`cannot create the first admin: ${stderr}`);
}
