import { isMailConfigured } from '@recordbus/mail';
import type { Settings } from '@recordbus/settings';
import { broken, type Finding, fine } from './finding.ts';

const subject = 'second factors';

/** Examines whether users can have the second factor that they are asked for (auth §6.10, §6.11). */
export function examineSecondFactors(settings: Pick<Settings, 'get' | 'getNamed' | 'namesOf'>): Finding[] {
  const mailed = settings
    .namesOf('auth.mfa.email.<collection>')
    .filter((name) => settings.getNamed('auth.mfa.email.<collection>', name));
  const required = settings
    .namesOf('auth.mfa.required.<collection>')
    .filter((name) => settings.getNamed('auth.mfa.required.<collection>', name) !== '');
  const problems: Finding[] = [];
  if (mailed.length > 0 && !isMailConfigured(settings))
    problems.push(
      broken(
        subject,
        `a mailed code is asked for in ${mailed.join(', ')}, and mail is not configured`,
        'Users without an authenticator app cannot sign in there. Configure mail, or unset auth.mfa.email.<collection>.',
      ),
    );
  if (required.length > 0 && !settings.get('auth.mfa.enabled') && !settings.get('auth.passkeys.enabled'))
    problems.push(
      broken(
        subject,
        `required in ${required.join(', ')}, and none can be set up`,
        'Users without one cannot sign in there. Set auth.mfa.enabled or auth.passkeys.enabled to 1.',
      ),
    );
  if (problems.length > 0) return problems;
  const parts = [
    ...(required.length > 0 ? [`required in ${required.join(', ')}`] : []),
    ...(mailed.length > 0 ? [`mailed in ${mailed.join(', ')}`] : []),
  ];
  return [fine(subject, parts.length > 0 ? parts.join('; ') : 'every user decides')];
}
