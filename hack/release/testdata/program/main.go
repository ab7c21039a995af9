// Command program is what the tests of this folder read the build info of.
package main

import "github.com/google/go-cmp/cmp"

func main() { println(cmp.Equal(1, 1)) }
