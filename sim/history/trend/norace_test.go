//go:build !race

package trend_test

// histories is the number of simulated histories.
const histories = 100
