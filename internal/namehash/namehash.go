// Package namehash hides names in data that users share. Its one rule: a hash cannot be guessed
// without the key, and the same key gives the same hash.
package namehash

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// length is the length of a hash, in hexadecimal digits. 48 bits are enough that no two of a million
// names are likely to collide.
const length = 12

// Of returns the hash of a text: lower-case hexadecimal digits, of fixed length (HMAC with SHA-256, cut
// off). It may begin with a digit.
func Of(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))[:length]
}
