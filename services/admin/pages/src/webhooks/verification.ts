/** A program that checks signatures (webhooks §5.3). */
export interface Verification {
  readonly language: string;
  readonly code: string;
}

/** The programs in docs/webhooks.md, which a test runs. Another test compares them with these. */
export const verifications: readonly Verification[] = [
  {
    language: 'Node',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

function isGenuine(secret, { id, timestamp, signature }, body) {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest();
  return signature.split(' ').some((one) => {
    const given = Buffer.from(one.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const [id, timestamp, signature] = process.argv.slice(2);
const genuine = isGenuine(process.env.WEBHOOK_SECRET, { id, timestamp, signature }, await buffer(process.stdin));
process.exit(genuine ? 0 : 1);
`,
  },
  {
    language: 'Python',
    code: `import base64, hashlib, hmac, os, sys, time

def is_genuine(secret, id, timestamp, signatures, body):
    if abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    return any(hmac.compare_digest(expected, given) for given in signatures.split())

genuine = is_genuine(os.environ["WEBHOOK_SECRET"], *sys.argv[1:4], sys.stdin.buffer.read())
sys.exit(0 if genuine else 1)
`,
  },
  {
    language: 'Go',
    code: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(secret, id, timestamp, signatures string, body []byte) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, given := range strings.Fields(signatures) {
		if hmac.Equal([]byte(given), expected) {
			return true
		}
	}
	return false
}

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil || !isGenuine(os.Getenv("WEBHOOK_SECRET"), os.Args[1], os.Args[2], os.Args[3], body) {
		os.Exit(1)
	}
}
`,
  },
  {
    language: 'Java',
    code: `import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Verify {
    static boolean isGenuine(String secret, String id, String timestamp, String signatures, byte[] body)
            throws Exception {
        long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
        if (Math.abs(age) > 300) return false;
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replace("whsec_", "")), "HmacSHA256"));
        mac.update((id + "." + timestamp + ".").getBytes());
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes();
        for (String given : signatures.split(" ")) {
            if (MessageDigest.isEqual(expected, given.getBytes())) return true;
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        byte[] body = System.in.readAllBytes();
        System.exit(isGenuine(System.getenv("WEBHOOK_SECRET"), args[0], args[1], args[2], body) ? 0 : 1);
    }
}
`,
  },
  {
    language: 'Shell',
    code: `id=$1 timestamp=$2 signatures=$3
now=$(date +%s)
[ $((now - timestamp)) -le 300 ] && [ $((timestamp - now)) -le 300 ] || exit 1
key=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')
expected=$({ printf '%s.%s.' "$id" "$timestamp"; cat; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
case " $signatures " in
  *" v1,$expected "*) exit 0 ;;
  *) exit 1 ;;
esac
`,
  },
];
