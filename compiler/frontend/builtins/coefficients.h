/* Coefficients in fixed point, the highest power first. Written by tests/math/coefficients.py. */
#ifndef FGPU_COEFFICIENTS_H
#define FGPU_COEFFICIENTS_H

/* (2^f - 1) / f: 32 bits below the point, error 2.3e-10. */
#define EXP2_6 89043
#define EXP2_5 627479
#define EXP2_4 5750554
#define EXP2_3 41301092
#define EXP2_2 238389752
#define EXP2_1 1031764902
#define EXP2_0 2977044473
/* the same to 26 bits: 32 bits below the point, error 1.1e-08. */
#define NATIVE_EXP2_5 894123
#define NATIVE_EXP2_4 5451244
#define NATIVE_EXP2_3 41455862
#define NATIVE_EXP2_2 238353606
#define NATIVE_EXP2_1 1031767986
#define NATIVE_EXP2_0 2977044430
/* the same in short: 16 bits below the point, error 4.3e-04. */
#define FAST_EXP2_2 4750
#define FAST_EXP2_1 15308
#define FAST_EXP2_0 45450
/* log2(1 + t) / t: 30 bits below the point, error 2.0e-10. */
#define LOG2_11 -90554243
#define LOG2_10 164768764
#define LOG2_9 -168820701
#define LOG2_8 171061037
#define LOG2_7 -192254796
#define LOG2_6 221267751
#define LOG2_5 -258237913
#define LOG2_4 309819029
#define LOG2_3 -387269519
#define LOG2_2 516360630
#define LOG2_1 -774541007
#define LOG2_0 1549082005
/* the same to 24 bits: 30 bits below the point, error 5.0e-08. */
#define NATIVE_LOG2_8 132188017
#define NATIVE_LOG2_7 -221042511
#define NATIVE_LOG2_6 232012228
#define NATIVE_LOG2_5 -256806705
#define NATIVE_LOG2_4 309133773
#define NATIVE_LOG2_3 -387291448
#define NATIVE_LOG2_2 516373990
#define NATIVE_LOG2_1 -774540946
#define NATIVE_LOG2_0 1549081965
/* the same in short: 14 bits below the point, error 2.1e-06. */
#define FAST_LOG2_6 2756
#define FAST_LOG2_5 -4390
#define FAST_LOG2_4 4852
#define FAST_LOG2_3 -5890
#define FAST_LOG2_2 7874
#define FAST_LOG2_1 -11819
#define FAST_LOG2_0 23637
/* sin(pi/2 r) / r, z = r^2: 31 bits below the point, error 6.8e-12. */
#define SIN_4 339745
#define SIN_3 -10052943
#define SIN_2 171138518
#define SIN_1 -1387197334
#define SIN_0 3373259426
/* the same in short: 15 bits below the point, error 2.3e-06. */
#define FAST_SIN_2 2554
#define FAST_SIN_1 -21162
#define FAST_SIN_0 51472
/* the same for all of a quarter turn: 31 bits below the point, error 6.7e-09. */
#define NATIVE_SIN_4 325713
#define NATIVE_SIN_3 -10037647
#define NATIVE_SIN_2 171132797
#define NATIVE_SIN_1 -1387196611
#define NATIVE_SIN_0 3373259412
/* (1 - cos(pi/2 r)) / z, z = r^2: 31 bits below the point, error 8.9e-13. */
#define COS_4 53492
#define COS_3 -1973959
#define COS_2 44803972
#define COS_1 -544751120
#define COS_0 2649351758
/* the same in short: 15 bits below the point, error 4.4e-07. */
#define FAST_COS_2 672
#define FAST_COS_1 -8311
#define FAST_COS_0 40426
/* (1 - atan(t) / t) / z, z = t^2: 32 bits below the point, error 1.9e-11. */
#define ATAN_6 173655184
#define ATAN_5 -306459880
#define ATAN_4 387791889
#define ATAN_3 -477063283
#define ATAN_2 613562385
#define ATAN_1 -858993413
#define ATAN_0 1431655765
/* (sinh(x) / x - 1) / z, z = x^2: 32 bits below the point, error 2.0e-10. */
#define SINH_3 12053
#define SINH_2 852040
#define SINH_1 35791421
#define SINH_0 715827882
/* erf(x) / x, z = x^2: 30 bits below the point, error 8.3e-13. */
#define ERF_8 1137
#define ERF_7 -14935
#define ERF_6 128383
#define ERF_5 -917259
#define ERF_4 5608995
#define ERF_3 -28847291
#define ERF_2 121158787
#define ERF_1 -403862635
#define ERF_0 1211587905
/* exp(x^2) erfc(x) / t, t = 4 / (4 + x): 27 bits below the point, error 5.3e-11. */
#define ERFC_10 -20546492
#define ERFC_9 106197963
#define ERFC_8 -193539247
#define ERFC_7 239879147
#define ERFC_6 -166215858
#define ERFC_5 106393824
#define ERFC_4 -18523109
#define ERFC_3 25621202
#define ERFC_2 16962497
#define ERFC_1 19062832
#define ERFC_0 18925435
/* gamma(1 + u): 28 bits below the point, error 1.3e-09. */
#define GAMMA_11 -2925327
#define GAMMA_10 20473298
#define GAMMA_9 -66507204
#define GAMMA_8 135839865
#define GAMMA_7 -201794955
#define GAMMA_6 243036380
#define GAMMA_5 -257738336
#define GAMMA_4 262573744
#define GAMMA_3 -243505220
#define GAMMA_2 265492805
#define GAMMA_1 -154945049
#define GAMMA_0 268435456
/* 2 / pi, a word at a time. */
#define TWO_OVER_PI_0 0xa2f9836eu
#define TWO_OVER_PI_1 0x4e441529u
#define TWO_OVER_PI_2 0xfc2757d1u
#define TWO_OVER_PI_3 0xf534ddc0u
#define TWO_OVER_PI_4 0xdb629599u
#define TWO_OVER_PI_5 0x3c439041u
#define TWO_OVER_PI_6 0xfe5163abu
#define LOG2_OF_E 0xb8aa3b295c17f0bcul   /* 63 bits below the point */
#define LOG2_OF_10 0x6a4d3c25e68dc57ful   /* 61 bits below the point */
#define LN_2 0xb17217f8u   /* 32 bits below the point */
#define LOG10_2 0x9a209a85u   /* 33 bits below the point */
#define ONE_OVER_PI 0xa2f9836eu   /* 33 bits below the point */
#define QUARTER_PI 0xc90fdaa22168c23ul   /* 60 bits below the point */

#endif
