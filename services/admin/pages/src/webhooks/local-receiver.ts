/** A receiver to run in a terminal: it shows each delivery and answers 200. */
export const localUrl = 'http://127.0.0.1:9000/';
export const localReceiver = `node -e "require('http').createServer((q,s)=>{q.on('data',d=>console.log(d+''));q.on('end',()=>s.end())}).listen(9000)"`;

/** The addresses of this machine, as `hooks.http.allow` names them. */
const loopback = '127.0.0.0/8';

/** Whether a URL is of the machine that the stack runs on, where deliveries are denied by default (webhooks §7.1). */
export function isLocal(url: string): boolean {
  try {
    return /^(localhost|127(\.\d{1,3}){3})$/.test(new URL(url).hostname);
  } catch {
    return false;
  }
}

/** Whether the setting lets deliveries reach this machine. */
export const allowsLocal = (allowed: string): boolean =>
  allowed.split(/[\s,]+/).some((one) => one === loopback || one === '127.0.0.1');

/** The setting with this machine allowed too. */
export const withLocal = (allowed: string): string => [...allowed.split(/[\s,]+/).filter(Boolean), loopback].join(',');
