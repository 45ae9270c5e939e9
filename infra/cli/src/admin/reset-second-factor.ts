import { resetAdminFactor } from '@recordbus/auth';
import { cliActor } from '../cli-actor.ts';
import { openDeployment } from '../deployment/open-deployment.ts';
import type { CommandParts } from '../run-command.ts';

/** Removes an admin's second factor. Throws the API's errors for an unknown address and for one without an app. */
export async function resetSecondFactor(parts: CommandParts, email: string): Promise<undefined> {
  const { database } = await openDeployment(parts);
  const { id } = await resetAdminFactor(database, email, cliActor);
  parts.terminal.report({ id, email }, `${email} signs in with the password alone.`);
}
