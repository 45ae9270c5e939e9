import { findProviderProblem } from '@recordbus/captcha';
import { type CaptchaSetting, createFilteredClient, type Settings } from '@recordbus/settings';
import { type Finding, fine, warning } from './finding.ts';

const subject = 'captchas';
const family = 'auth.captcha.<collection>';
const nobodyGetsIn = 'Nobody signs up there, and who signs in is not asked.';

type Stored = Pick<Settings, 'get' | 'getNamed' | 'namesOf' | 'onChange'>;

/**
 * Examines which collections ask for a captcha, and whether each one keeps bots out (auth §10). Asks Turnstile and
 * hCaptcha about an answer that nobody solved.
 */
export async function examineCaptchas(settings: Stored): Promise<Finding[]> {
  const client = createFilteredClient(settings);
  try {
    const names = settings.namesOf(family);
    const findings = await Promise.all(names.map((name) => examineCaptcha(client, settings, name)));
    const problems = findings.filter(({ verdict }) => verdict !== 'ok');
    if (problems.length > 0) return problems;
    return [fine(subject, findings.length === 0 ? 'none' : findings.map(({ says }) => says).join('; '))];
  } finally {
    await client.close();
  }
}

async function examineCaptcha(
  client: ReturnType<typeof createFilteredClient>,
  settings: Stored,
  name: string,
): Promise<Finding> {
  const setting: CaptchaSetting | undefined = settings.getNamed(family, name);
  if (!setting)
    return warning(subject, `${name} asks for none: its setting is invalid`, `Set auth.captcha.${name} again.`);
  const secret = settings.getNamed('auth.captcha.<collection>.secret', name);
  if (setting.provider !== 'altcha' && secret === '')
    return warning(subject, `${name}: no secret key`, `${nobodyGetsIn} Set auth.captcha.${name}.secret.`);
  const problem = await findProviderProblem(client, setting, secret, Math.floor(Date.now() / 1000));
  if (problem === undefined) return fine(subject, `${name} (${setting.provider}: ${setting.on.join(', ')})`);
  return warning(
    subject,
    `${name}: ${setting.provider} does not verify: ${problem}`,
    'Until it does, a door is closed to everyone or open to everyone. Check the secret key and the way to the provider.',
  );
}
