


    // !!! This file is generated using emlearn !!!

    #include <stdint.h>
    

static inline int32_t mytree_tree_0(const int16_t *features, int32_t features_length) {
          if (features[43] < 3071) {
              if (features[26] < 7167) {
                  if (features[36] < 3071) {
                      return 1;
                  } else {
                      return 2;
                  }
              } else {
                  if (features[36] < 1023) {
                      if (features[25] < 3276) {
                          return 6;
                      } else {
                          if (features[33] < 5851) {
                              return 12;
                          } else {
                              if (features[1] < 6143) {
                                  return 22;
                              } else {
                                  return 23;
                              }
                          }
                      }
                  } else {
                      if (features[29] < 25599) {
                          if (features[18] < 23551) {
                              return 10;
                          } else {
                              if (features[12] < 4095) {
                                  return 24;
                              } else {
                                  return 25;
                              }
                          }
                      } else {
                          if (features[58] < 3071) {
                              if (features[35] < 13311) {
                                  return 28;
                              } else {
                                  return 29;
                              }
                          } else {
                              return 11;
                          }
                      }
                  }
              }
          } else {
              if (features[62] < 1023) {
                  if (features[60] < 15359) {
                      if (features[29] < 1023) {
                          return 0;
                      } else {
                          if (features[5] < 1023) {
                              return 7;
                          } else {
                              if (features[25] < 3276) {
                                  return 26;
                              } else {
                                  return 27;
                              }
                          }
                      }
                  } else {
                      if (features[28] < 11263) {
                          if (features[30] < 1092) {
                              if (features[61] < 15359) {
                                  return 18;
                              } else {
                                  return 19;
                              }
                          } else {
                              if (features[53] < 29695) {
                                  return 20;
                              } else {
                                  return 21;
                              }
                          }
                      } else {
                          if (features[22] < 1023) {
                              if (features[20] < 27647) {
                                  if (features[2] < 1023) {
                                      return 14;
                                  } else {
                                      return 15;
                                  }
                              } else {
                                  if (features[44] < 10239) {
                                      return 16;
                                  } else {
                                      return 17;
                                  }
                              }
                          } else {
                              if (features[30] < 13106) {
                                  if (features[10] < 13311) {
                                      return 30;
                                  } else {
                                      return 31;
                                  }
                              } else {
                                  return 13;
                              }
                          }
                      }
                  }
              } else {
                  if (features[21] < 1023) {
                      if (features[37] < 3071) {
                          if (features[55] < 1260) {
                              return 8;
                          } else {
                              return 9;
                          }
                      } else {
                          return 3;
                      }
                  } else {
                      if (features[51] < 23551) {
                          return 4;
                      } else {
                          return 5;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_1(const int16_t *features, int32_t features_length) {
          if (features[34] < 3071) {
              if (features[19] < 17407) {
                  if (features[43] < 7167) {
                      if (features[21] < 31743) {
                          if (features[29] < 27647) {
                              return 54;
                          } else {
                              return 55;
                          }
                      } else {
                          return 40;
                      }
                  } else {
                      if (features[54] < 1023) {
                          return 41;
                      } else {
                          if (features[37] < 11263) {
                              return 16;
                          } else {
                              return 62;
                          }
                      }
                  }
              } else {
                  if (features[35] < 11263) {
                      if (features[21] < 3071) {
                          return 56;
                      } else {
                          return 57;
                      }
                  } else {
                      if (features[44] < 17407) {
                          return 58;
                      } else {
                          return 59;
                      }
                  }
              }
          } else {
              if (features[2] < 1023) {
                  if (features[37] < 23551) {
                      if (features[21] < 1023) {
                          return 46;
                      } else {
                          if (features[27] < 24575) {
                              return 47;
                          } else {
                              return 48;
                          }
                      }
                  } else {
                      if (features[53] < 25599) {
                          if (features[21] < 1023) {
                              if (features[59] < 15359) {
                                  return 60;
                              } else {
                                  return 61;
                              }
                          } else {
                              return 49;
                          }
                      } else {
                          if (features[20] < 28671) {
                              return 50;
                          } else {
                              return 51;
                          }
                      }
                  }
              } else {
                  if (features[36] < 1023) {
                      if (features[6] < 3071) {
                          return 32;
                      } else {
                          return 33;
                      }
                  } else {
                      if (features[46] < 17407) {
                          if (features[60] < 15359) {
                              if (features[29] < 1023) {
                                  return 36;
                              } else {
                                  if (features[18] < 25599) {
                                      return 42;
                                  } else {
                                      if (features[12] < 11263) {
                                          return 44;
                                      } else {
                                          return 45;
                                      }
                                  }
                              }
                          } else {
                              if (features[42] < 9215) {
                                  if (features[61] < 12287) {
                                      return 37;
                                  } else {
                                      return 38;
                                  }
                              } else {
                                  if (features[19] < 31743) {
                                      if (features[33] < 7021) {
                                          if (features[61] < 29695) {
                                              return 52;
                                          } else {
                                              return 53;
                                          }
                                      } else {
                                          return 43;
                                      }
                                  } else {
                                      return 39;
                                  }
                              }
                          }
                      } else {
                          if (features[42] < 14335) {
                              return 34;
                          } else {
                              return 35;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_2(const int16_t *features, int32_t features_length) {
          if (features[21] < 1023) {
              if (features[61] < 13311) {
                  if (features[41] < 11263) {
                      if (features[20] < 19455) {
                          return 77;
                      } else {
                          return 78;
                      }
                  } else {
                      return 63;
                  }
              } else {
                  if (features[17] < 9215) {
                      if (features[46] < 1023) {
                          return 73;
                      } else {
                          if (features[42] < 18431) {
                              return 74;
                          } else {
                              if (features[59] < 4095) {
                                  return 60;
                              } else {
                                  return 80;
                              }
                          }
                      }
                  } else {
                      return 64;
                  }
              }
          } else {
              if (features[38] < 1170) {
                  if (features[55] < 1260) {
                      if (features[43] < 31743) {
                          if (features[50] < 17407) {
                              if (features[43] < 3071) {
                                  return 76;
                              } else {
                                  if (features[12] < 29695) {
                                      return 81;
                                  } else {
                                      return 82;
                                  }
                              }
                          } else {
                              if (features[44] < 5119) {
                                  if (features[27] < 21503) {
                                      return 85;
                                  } else {
                                      return 86;
                                  }
                              } else {
                                  if (features[51] < 31743) {
                                      if (features[34] < 1023) {
                                          return 88;
                                      } else {
                                          return 89;
                                      }
                                  } else {
                                      return 87;
                                  }
                              }
                          }
                      } else {
                          if (features[35] < 31743) {
                              return 75;
                          } else {
                              if (features[51] < 27647) {
                                  return 79;
                              } else {
                                  return 51;
                              }
                          }
                      }
                  } else {
                      return 65;
                  }
              } else {
                  if (features[28] < 1023) {
                      if (features[44] < 25599) {
                          return 66;
                      } else {
                          return 67;
                      }
                  } else {
                      if (features[44] < 13311) {
                          if (features[21] < 21503) {
                              if (features[45] < 1023) {
                                  return 71;
                              } else {
                                  if (features[6] < 3071) {
                                      if (features[29] < 21503) {
                                          return 91;
                                      } else {
                                          return 92;
                                      }
                                  } else {
                                      return 90;
                                  }
                              }
                          } else {
                              if (features[4] < 31743) {
                                  if (features[42] < 11263) {
                                      return 83;
                                  } else {
                                      return 84;
                                  }
                              } else {
                                  return 72;
                              }
                          }
                      } else {
                          if (features[33] < 5851) {
                              if (features[61] < 3071) {
                                  return 69;
                              } else {
                                  return 70;
                              }
                          } else {
                              return 68;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_3(const int16_t *features, int32_t features_length) {
          if (features[34] < 11263) {
              if (features[38] < 1170) {
                  if (features[54] < 1023) {
                      if (features[21] < 3071) {
                          if (features[10] < 14335) {
                              return 51;
                          } else {
                              return 104;
                          }
                      } else {
                          if (features[10] < 11263) {
                              return 105;
                          } else {
                              return 106;
                          }
                      }
                  } else {
                      if (features[52] < 11263) {
                          return 100;
                      } else {
                          if (features[12] < 5119) {
                              return 110;
                          } else {
                              if (features[36] < 27647) {
                                  return 117;
                              } else {
                                  return 118;
                              }
                          }
                      }
                  }
              } else {
                  if (features[44] < 25599) {
                      if (features[3] < 27647) {
                          return 101;
                      } else {
                          if (features[29] < 27647) {
                              if (features[36] < 1023) {
                                  return 120;
                              } else {
                                  return 121;
                              }
                          } else {
                              return 119;
                          }
                      }
                  } else {
                      return 71;
                  }
              }
          } else {
              if (features[2] < 3071) {
                  if (features[20] < 28671) {
                      if (features[29] < 9215) {
                          if (features[41] < 11263) {
                              return 97;
                          } else {
                              return 98;
                          }
                      } else {
                          if (features[13] < 15359) {
                              return 99;
                          } else {
                              if (features[44] < 11263) {
                                  return 102;
                              } else {
                                  return 103;
                              }
                          }
                      }
                  } else {
                      return 93;
                  }
              } else {
                  if (features[43] < 13311) {
                      if (features[41] < 1023) {
                          if (features[5] < 3071) {
                              return 94;
                          } else {
                              if (features[26] < 23551) {
                                  return 115;
                              } else {
                                  return 116;
                              }
                          }
                      } else {
                          if (features[27] < 13311) {
                              return 95;
                          } else {
                              return 96;
                          }
                      }
                  } else {
                      if (features[53] < 3071) {
                          if (features[36] < 22527) {
                              if (features[20] < 10239) {
                                  return 23;
                              } else {
                                  return 107;
                              }
                          } else {
                              if (features[26] < 31743) {
                                  return 108;
                              } else {
                                  return 109;
                              }
                          }
                      } else {
                          if (features[13] < 1023) {
                              if (features[28] < 1023) {
                                  return 111;
                              } else {
                                  return 112;
                              }
                          } else {
                              if (features[28] < 19455) {
                                  return 113;
                              } else {
                                  return 114;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_4(const int16_t *features, int32_t features_length) {
          if (features[26] < 11263) {
              if (features[61] < 1023) {
                  if (features[1] < 6143) {
                      if (features[38] < 1170) {
                          return 149;
                      } else {
                          return 150;
                      }
                  } else {
                      return 122;
                  }
              } else {
                  if (features[62] < 7167) {
                      if (features[51] < 27647) {
                          if (features[30] < 3276) {
                              if (features[35] < 23551) {
                                  return 133;
                              } else {
                                  return 134;
                              }
                          } else {
                              if (features[51] < 7167) {
                                  return 135;
                              } else {
                                  return 136;
                              }
                          }
                      } else {
                          if (features[27] < 28671) {
                              return 131;
                          } else {
                              return 132;
                          }
                      }
                  } else {
                      if (features[3] < 31743) {
                          return 129;
                      } else {
                          return 130;
                      }
                  }
              }
          } else {
              if (features[42] < 15359) {
                  if (features[59] < 27647) {
                      if (features[2] < 1023) {
                          if (features[33] < 12872) {
                              if (features[61] < 17407) {
                                  if (features[12] < 29695) {
                                      return 146;
                                  } else {
                                      return 51;
                                  }
                              } else {
                                  return 142;
                              }
                          } else {
                              return 137;
                          }
                      } else {
                          if (features[53] < 1023) {
                              return 138;
                          } else {
                              return 139;
                          }
                      }
                  } else {
                      if (features[30] < 1092) {
                          if (features[63] < 1023) {
                              return 140;
                          } else {
                              return 141;
                          }
                      } else {
                          if (features[61] < 1023) {
                              if (features[13] < 4095) {
                                  return 60;
                              } else {
                                  return 143;
                              }
                          } else {
                              if (features[25] < 9829) {
                                  return 144;
                              } else {
                                  return 145;
                              }
                          }
                      }
                  }
              } else {
                  if (features[50] < 11263) {
                      if (features[51] < 31743) {
                          return 123;
                      } else {
                          return 124;
                      }
                  } else {
                      if (features[13] < 9215) {
                          if (features[30] < 3276) {
                              if (features[33] < 22234) {
                                  if (features[61] < 19455) {
                                      return 147;
                                  } else {
                                      return 148;
                                  }
                              } else {
                                  return 60;
                              }
                          } else {
                              return 125;
                          }
                      } else {
                          if (features[35] < 17407) {
                              return 126;
                          } else {
                              if (features[43] < 31743) {
                                  return 127;
                              } else {
                                  return 128;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_5(const int16_t *features, int32_t features_length) {
          if (features[36] < 1023) {
              if (features[34] < 6143) {
                  return 151;
              } else {
                  if (features[13] < 9215) {
                      return 154;
                  } else {
                      return 155;
                  }
              }
          } else {
              if (features[54] < 1023) {
                  if (features[60] < 15359) {
                      if (features[21] < 1023) {
                          if (features[18] < 12287) {
                              return 158;
                          } else {
                              return 159;
                          }
                      } else {
                          if (features[25] < 12014) {
                              if (features[29] < 15359) {
                                  return 168;
                              } else {
                                  return 169;
                              }
                          } else {
                              return 160;
                          }
                      }
                  } else {
                      if (features[58] < 1023) {
                          if (features[6] < 1023) {
                              if (features[26] < 20479) {
                                  return 170;
                              } else {
                                  return 171;
                              }
                          } else {
                              return 156;
                          }
                      } else {
                          if (features[42] < 9215) {
                              if (features[18] < 16383) {
                                  return 162;
                              } else {
                                  return 163;
                              }
                          } else {
                              if (features[12] < 31743) {
                                  return 164;
                              } else {
                                  return 165;
                              }
                          }
                      }
                  }
              } else {
                  if (features[42] < 21503) {
                      if (features[30] < 1092) {
                          if (features[46] < 1023) {
                              if (features[27] < 21503) {
                                  if (features[62] < 1023) {
                                      return 161;
                                  } else {
                                      return 16;
                                  }
                              } else {
                                  return 157;
                              }
                          } else {
                              if (features[21] < 1023) {
                                  if (features[37] < 1023) {
                                      return 16;
                                  } else {
                                      if (features[20] < 11263) {
                                          return 172;
                                      } else {
                                          return 173;
                                      }
                                  }
                              } else {
                                  if (features[38] < 1170) {
                                      if (features[13] < 21503) {
                                          if (features[52] < 19455) {
                                              return 177;
                                          } else {
                                              return 16;
                                          }
                                      } else {
                                          return 174;
                                      }
                                  } else {
                                      if (features[26] < 11263) {
                                          return 175;
                                      } else {
                                          return 176;
                                      }
                                  }
                              }
                          }
                      } else {
                          return 152;
                      }
                  } else {
                      if (features[49] < 5119) {
                          if (features[46] < 11263) {
                              if (features[33] < 8191) {
                                  if (features[45] < 4095) {
                                      return 16;
                                  } else {
                                      return 167;
                                  }
                              } else {
                                  return 111;
                              }
                          } else {
                              return 166;
                          }
                      } else {
                          return 153;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_6(const int16_t *features, int32_t features_length) {
          if (features[28] < 1023) {
              if (features[30] < 1092) {
                  if (features[58] < 15359) {
                      return 178;
                  } else {
                      return 179;
                  }
              } else {
                  if (features[59] < 13311) {
                      return 180;
                  } else {
                      if (features[36] < 3071) {
                          return 21;
                      } else {
                          return 189;
                      }
                  }
              }
          } else {
              if (features[38] < 1170) {
                  if (features[54] < 1023) {
                      if (features[28] < 31743) {
                          if (features[43] < 31743) {
                              if (features[4] < 31743) {
                                  if (features[50] < 13311) {
                                      return 201;
                                  } else {
                                      return 202;
                                  }
                              } else {
                                  return 190;
                              }
                          } else {
                              if (features[19] < 26623) {
                                  return 191;
                              } else {
                                  return 192;
                              }
                          }
                      } else {
                          return 185;
                      }
                  } else {
                      if (features[45] < 17407) {
                          if (features[34] < 23551) {
                              if (features[12] < 7167) {
                                  return 204;
                              } else {
                                  return 205;
                              }
                          } else {
                              return 186;
                          }
                      } else {
                          if (features[43] < 3071) {
                              return 187;
                          } else {
                              if (features[51] < 31743) {
                                  if (features[42] < 3071) {
                                      return 206;
                                  } else {
                                      return 207;
                                  }
                              } else {
                                  return 188;
                              }
                          }
                      }
                  }
              } else {
                  if (features[46] < 7167) {
                      if (features[58] < 1023) {
                          if (features[19] < 7167) {
                              return 181;
                          } else {
                              return 182;
                          }
                      } else {
                          if (features[51] < 17407) {
                              return 183;
                          } else {
                              return 184;
                          }
                      }
                  } else {
                      if (features[28] < 27647) {
                          if (features[17] < 5119) {
                              if (features[21] < 2047) {
                                  return 193;
                              } else {
                                  return 194;
                              }
                          } else {
                              if (features[25] < 9829) {
                                  return 195;
                              } else {
                                  if (features[13] < 17407) {
                                      return 23;
                                  } else {
                                      return 203;
                                  }
                              }
                          }
                      } else {
                          if (features[4] < 31743) {
                              if (features[29] < 27647) {
                                  if (features[20] < 19455) {
                                      return 199;
                                  } else {
                                      return 200;
                                  }
                              } else {
                                  return 196;
                              }
                          } else {
                              if (features[26] < 17407) {
                                  return 197;
                              } else {
                                  return 198;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_7(const int16_t *features, int32_t features_length) {
          if (features[19] < 27647) {
              if (features[53] < 1023) {
                  if (features[21] < 1023) {
                      return 208;
                  } else {
                      if (features[4] < 21503) {
                          if (features[12] < 13311) {
                              return 60;
                          } else {
                              return 225;
                          }
                      } else {
                          if (features[37] < 11263) {
                              return 226;
                          } else {
                              return 227;
                          }
                      }
                  }
              } else {
                  if (features[45] < 1023) {
                      if (features[26] < 21503) {
                          return 209;
                      } else {
                          return 210;
                      }
                  } else {
                      if (features[20] < 13311) {
                          if (features[33] < 5851) {
                              if (features[13] < 17407) {
                                  return 212;
                              } else {
                                  if (features[38] < 8191) {
                                      if (features[29] < 4095) {
                                          return 23;
                                      } else {
                                          if (features[27] < 9215) {
                                              return 234;
                                          } else {
                                              return 235;
                                          }
                                      }
                                  } else {
                                      return 219;
                                  }
                              }
                          } else {
                              if (features[36] < 1023) {
                                  return 213;
                              } else {
                                  if (features[61] < 13311) {
                                      if (features[2] < 3071) {
                                          return 215;
                                      } else {
                                          return 216;
                                      }
                                  } else {
                                      return 214;
                                  }
                              }
                          }
                      } else {
                          if (features[3] < 3071) {
                              return 211;
                          } else {
                              if (features[25] < 1092) {
                                  if (features[43] < 3071) {
                                      if (features[45] < 13311) {
                                          return 221;
                                      } else {
                                          if (features[36] < 6143) {
                                              return 236;
                                          } else {
                                              return 237;
                                          }
                                      }
                                  } else {
                                      if (features[5] < 11263) {
                                          return 222;
                                      } else {
                                          return 223;
                                      }
                                  }
                              } else {
                                  if (features[37] < 15359) {
                                      if (features[35] < 26623) {
                                          return 232;
                                      } else {
                                          return 233;
                                      }
                                  } else {
                                      return 220;
                                  }
                              }
                          }
                      }
                  }
              }
          } else {
              if (features[20] < 17407) {
                  if (features[30] < 1092) {
                      if (features[10] < 15359) {
                          if (features[33] < 10532) {
                              return 228;
                          } else {
                              return 229;
                          }
                      } else {
                          return 224;
                      }
                  } else {
                      return 217;
                  }
              } else {
                  if (features[51] < 27647) {
                      if (features[2] < 1023) {
                          return 230;
                      } else {
                          return 231;
                      }
                  } else {
                      return 218;
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_8(const int16_t *features, int32_t features_length) {
          if (features[36] < 1023) {
              if (features[58] < 17407) {
                  if (features[34] < 6143) {
                      return 256;
                  } else {
                      return 257;
                  }
              } else {
                  return 238;
              }
          } else {
              if (features[46] < 11263) {
                  if (features[19] < 25599) {
                      if (features[61] < 1023) {
                          if (features[17] < 5119) {
                              if (features[13] < 7167) {
                                  if (features[18] < 10239) {
                                      return 245;
                                  } else {
                                      return 246;
                                  }
                              } else {
                                  if (features[60] < 15359) {
                                      return 247;
                                  } else {
                                      return 248;
                                  }
                              }
                          } else {
                              if (features[2] < 13311) {
                                  return 243;
                              } else {
                                  return 244;
                              }
                          }
                      } else {
                          if (features[26] < 3071) {
                              if (features[43] < 5119) {
                                  return 239;
                              } else {
                                  return 240;
                              }
                          } else {
                              if (features[37] < 15359) {
                                  if (features[21] < 9215) {
                                      if (features[17] < 7167) {
                                          return 259;
                                      } else {
                                          return 260;
                                      }
                                  } else {
                                      if (features[42] < 6143) {
                                          return 261;
                                      } else {
                                          return 262;
                                      }
                                  }
                              } else {
                                  if (features[36] < 25599) {
                                      return 258;
                                  } else {
                                      if (features[22] < 3071) {
                                          return 268;
                                      } else {
                                          return 269;
                                      }
                                  }
                              }
                          }
                      }
                  } else {
                      if (features[20] < 27647) {
                          if (features[62] < 1023) {
                              if (features[13] < 15359) {
                                  if (features[2] < 1023) {
                                      return 263;
                                  } else {
                                      return 264;
                                  }
                              } else {
                                  return 255;
                              }
                          } else {
                              return 251;
                          }
                      } else {
                          if (features[51] < 25599) {
                              if (features[2] < 2047) {
                                  if (features[43] < 23551) {
                                      return 266;
                                  } else {
                                      return 267;
                                  }
                              } else {
                                  return 265;
                              }
                          } else {
                              return 252;
                          }
                      }
                  }
              } else {
                  if (features[10] < 25599) {
                      if (features[42] < 13311) {
                          return 241;
                      } else {
                          if (features[5] < 13311) {
                              return 249;
                          } else {
                              return 250;
                          }
                      }
                  } else {
                      if (features[30] < 3276) {
                          if (features[38] < 1170) {
                              return 253;
                          } else {
                              return 254;
                          }
                      } else {
                          return 242;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_9(const int16_t *features, int32_t features_length) {
          if (features[60] < 11263) {
              if (features[26] < 23551) {
                  if (features[37] < 1023) {
                      return 278;
                  } else {
                      if (features[4] < 7167) {
                          return 233;
                      } else {
                          return 286;
                      }
                  }
              } else {
                  if (features[21] < 2047) {
                      return 23;
                  } else {
                      return 279;
                  }
              }
          } else {
              if (features[36] < 1023) {
                  if (features[42] < 10239) {
                      return 270;
                  } else {
                      if (features[59] < 12287) {
                          return 271;
                      } else {
                          if (features[29] < 3071) {
                              return 292;
                          } else {
                              return 293;
                          }
                      }
                  }
              } else {
                  if (features[45] < 1023) {
                      if (features[26] < 13311) {
                          if (features[61] < 10239) {
                              return 276;
                          } else {
                              return 205;
                          }
                      } else {
                          if (features[54] < 19455) {
                              if (features[14] < 5119) {
                                  return 294;
                              } else {
                                  return 295;
                              }
                          } else {
                              return 277;
                          }
                      }
                  } else {
                      if (features[10] < 17407) {
                          if (features[61] < 17407) {
                              if (features[34] < 17407) {
                                  if (features[20] < 29695) {
                                      return 283;
                                  } else {
                                      return 51;
                                  }
                              } else {
                                  if (features[6] < 5119) {
                                      return 284;
                                  } else {
                                      return 285;
                                  }
                              }
                          } else {
                              if (features[12] < 31743) {
                                  if (features[28] < 17407) {
                                      if (features[35] < 13311) {
                                          return 289;
                                      } else {
                                          return 290;
                                      }
                                  } else {
                                      return 280;
                                  }
                              } else {
                                  return 273;
                              }
                          }
                      } else {
                          if (features[42] < 15359) {
                              if (features[34] < 3071) {
                                  if (features[4] < 10239) {
                                      return 281;
                                  } else {
                                      if (features[60] < 21503) {
                                          return 291;
                                      } else {
                                          if (features[26] < 11263) {
                                              return 296;
                                          } else {
                                              return 297;
                                          }
                                      }
                                  }
                              } else {
                                  if (features[5] < 13311) {
                                      if (features[43] < 7167) {
                                          return 287;
                                      } else {
                                          return 288;
                                      }
                                  } else {
                                      return 282;
                                  }
                              }
                          } else {
                              if (features[46] < 11263) {
                                  if (features[33] < 3510) {
                                      return 274;
                                  } else {
                                      return 275;
                                  }
                              } else {
                                  return 272;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_10(const int16_t *features, int32_t features_length) {
          if (features[36] < 1023) {
              if (features[41] < 1023) {
                  if (features[33] < 2340) {
                      return 300;
                  } else {
                      return 301;
                  }
              } else {
                  if (features[27] < 29695) {
                      return 302;
                  } else {
                      return 303;
                  }
              }
          } else {
              if (features[60] < 15359) {
                  if (features[37] < 9215) {
                      return 298;
                  } else {
                      if (features[2] < 1023) {
                          return 306;
                      } else {
                          if (features[53] < 1023) {
                              return 324;
                          } else {
                              return 325;
                          }
                      }
                  }
              } else {
                  if (features[54] < 1023) {
                      if (features[30] < 9829) {
                          if (features[19] < 19455) {
                              if (features[42] < 19455) {
                                  if (features[29] < 18431) {
                                      return 319;
                                  } else {
                                      return 320;
                                  }
                              } else {
                                  return 307;
                              }
                          } else {
                              if (features[12] < 29695) {
                                  if (features[33] < 9361) {
                                      return 308;
                                  } else {
                                      return 309;
                                  }
                              } else {
                                  if (features[38] < 2340) {
                                      return 310;
                                  } else {
                                      return 137;
                                  }
                              }
                          }
                      } else {
                          if (features[13] < 10239) {
                              return 304;
                          } else {
                              return 305;
                          }
                      }
                  } else {
                      if (features[37] < 3071) {
                          if (features[20] < 15359) {
                              if (features[63] < 1023) {
                                  return 318;
                              } else {
                                  return 51;
                              }
                          } else {
                              return 299;
                          }
                      } else {
                          if (features[11] < 23551) {
                              if (features[29] < 23551) {
                                  if (features[18] < 21503) {
                                      return 313;
                                  } else {
                                      if (features[42] < 1023) {
                                          return 316;
                                      } else {
                                          return 317;
                                      }
                                  }
                              } else {
                                  if (features[59] < 14335) {
                                      return 314;
                                  } else {
                                      return 315;
                                  }
                              }
                          } else {
                              if (features[21] < 1023) {
                                  if (features[42] < 17407) {
                                      return 311;
                                  } else {
                                      return 312;
                                  }
                              } else {
                                  if (features[38] < 8191) {
                                      if (features[62] < 9215) {
                                          return 321;
                                      } else {
                                          if (features[52] < 21503) {
                                              return 326;
                                          } else {
                                              return 16;
                                          }
                                      }
                                  } else {
                                      if (features[5] < 17407) {
                                          return 322;
                                      } else {
                                          return 323;
                                      }
                                  }
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_11(const int16_t *features, int32_t features_length) {
          if (features[33] < 8191) {
              if (features[43] < 5119) {
                  if (features[25] < 1092) {
                      if (features[36] < 9215) {
                          return 336;
                      } else {
                          if (features[20] < 13311) {
                              if (features[26] < 3071) {
                                  return 352;
                              } else {
                                  return 353;
                              }
                          } else {
                              if (features[11] < 29695) {
                                  return 354;
                              } else {
                                  return 355;
                              }
                          }
                      }
                  } else {
                      if (features[29] < 27647) {
                          if (features[2] < 15359) {
                              return 338;
                          } else {
                              return 339;
                          }
                      } else {
                          return 337;
                      }
                  }
              } else {
                  if (features[10] < 15359) {
                      if (features[52] < 15359) {
                          if (features[60] < 21503) {
                              return 340;
                          } else {
                              return 341;
                          }
                      } else {
                          if (features[28] < 17407) {
                              return 342;
                          } else {
                              if (features[20] < 11263) {
                                  return 346;
                              } else {
                                  return 347;
                              }
                          }
                      }
                  } else {
                      if (features[60] < 15359) {
                          if (features[13] < 25599) {
                              return 327;
                          } else {
                              return 328;
                          }
                      } else {
                          if (features[35] < 23551) {
                              if (features[34] < 8191) {
                                  if (features[45] < 22527) {
                                      return 349;
                                  } else {
                                      return 233;
                                  }
                              } else {
                                  return 334;
                              }
                          } else {
                              if (features[2] < 15359) {
                                  return 335;
                              } else {
                                  if (features[14] < 1023) {
                                      return 345;
                                  } else {
                                      if (features[25] < 3276) {
                                          return 233;
                                      } else {
                                          return 348;
                                      }
                                  }
                              }
                          }
                      }
                  }
              }
          } else {
              if (features[43] < 11263) {
                  if (features[28] < 7167) {
                      if (features[35] < 18431) {
                          return 21;
                      } else {
                          return 329;
                      }
                  } else {
                      if (features[13] < 23551) {
                          if (features[60] < 31743) {
                              return 350;
                          } else {
                              return 351;
                          }
                      } else {
                          return 330;
                      }
                  }
              } else {
                  if (features[50] < 17407) {
                      if (features[51] < 29695) {
                          return 331;
                      } else {
                          return 332;
                      }
                  } else {
                      if (features[62] < 1023) {
                          if (features[44] < 25599) {
                              return 343;
                          } else {
                              return 344;
                          }
                      } else {
                          return 333;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_12(const int16_t *features, int32_t features_length) {
          if (features[36] < 1023) {
              if (features[42] < 10239) {
                  return 356;
              } else {
                  if (features[10] < 1023) {
                      return 361;
                  } else {
                      return 362;
                  }
              }
          } else {
              if (features[26] < 15359) {
                  if (features[53] < 1023) {
                      if (features[27] < 25599) {
                          return 357;
                      } else {
                          if (features[2] < 9215) {
                              return 369;
                          } else {
                              return 370;
                          }
                      }
                  } else {
                      if (features[51] < 21503) {
                          if (features[35] < 21503) {
                              if (features[21] < 31743) {
                                  if (features[29] < 25599) {
                                      return 383;
                                  } else {
                                      return 256;
                                  }
                              } else {
                                  return 366;
                              }
                          } else {
                              if (features[10] < 2047) {
                                  return 367;
                              } else {
                                  return 368;
                              }
                          }
                      } else {
                          if (features[27] < 21503) {
                              if (features[43] < 1023) {
                                  return 175;
                              } else {
                                  return 364;
                              }
                          } else {
                              if (features[42] < 21503) {
                                  if (features[9] < 3276) {
                                      return 377;
                                  } else {
                                      return 378;
                                  }
                              } else {
                                  return 365;
                              }
                          }
                      }
                  }
              } else {
                  if (features[54] < 17407) {
                      if (features[41] < 11263) {
                          if (features[20] < 31743) {
                              if (features[2] < 9215) {
                                  if (features[60] < 21503) {
                                      if (features[12] < 6143) {
                                          return 60;
                                      } else {
                                          if (features[28] < 21503) {
                                              return 379;
                                          } else {
                                              return 380;
                                          }
                                      }
                                  } else {
                                      if (features[28] < 13311) {
                                          if (features[44] < 30719) {
                                              return 375;
                                          } else {
                                              return 229;
                                          }
                                      } else {
                                          if (features[36] < 9215) {
                                              return 376;
                                          } else {
                                              if (features[37] < 29695) {
                                                  return 381;
                                              } else {
                                                  return 382;
                                              }
                                          }
                                      }
                                  }
                              } else {
                                  if (features[29] < 20479) {
                                      if (features[20] < 7167) {
                                          return 371;
                                      } else {
                                          return 372;
                                      }
                                  } else {
                                      if (features[37] < 19455) {
                                          return 373;
                                      } else {
                                          return 374;
                                      }
                                  }
                              }
                          } else {
                              return 363;
                          }
                      } else {
                          return 358;
                      }
                  } else {
                      if (features[34] < 21503) {
                          return 359;
                      } else {
                          return 360;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_13(const int16_t *features, int32_t features_length) {
          if (features[43] < 3071) {
              if (features[3] < 3071) {
                  return 384;
              } else {
                  if (features[26] < 7167) {
                      return 394;
                  } else {
                      if (features[38] < 15213) {
                          if (features[21] < 5119) {
                              return 395;
                          } else {
                              if (features[41] < 3071) {
                                  return 399;
                              } else {
                                  if (features[27] < 29695) {
                                      return 400;
                                  } else {
                                      return 401;
                                  }
                              }
                          }
                      } else {
                          if (features[28] < 12287) {
                              return 396;
                          } else {
                              if (features[13] < 17407) {
                                  return 397;
                              } else {
                                  return 398;
                              }
                          }
                      }
                  }
              }
          } else {
              if (features[54] < 3071) {
                  if (features[10] < 13311) {
                      if (features[33] < 10532) {
                          if (features[20] < 23551) {
                              return 387;
                          } else {
                              return 388;
                          }
                      } else {
                          return 386;
                      }
                  } else {
                      if (features[50] < 19455) {
                          if (features[13] < 19455) {
                              if (features[21] < 1023) {
                                  if (features[13] < 5119) {
                                      return 406;
                                  } else {
                                      return 407;
                                  }
                              } else {
                                  return 390;
                              }
                          } else {
                              if (features[29] < 9215) {
                                  return 391;
                              } else {
                                  return 392;
                              }
                          }
                      } else {
                          if (features[36] < 3071) {
                              return 389;
                          } else {
                              if (features[22] < 1023) {
                                  if (features[51] < 31743) {
                                      return 409;
                                  } else {
                                      return 410;
                                  }
                              } else {
                                  if (features[27] < 10239) {
                                      return 16;
                                  } else {
                                      return 411;
                                  }
                              }
                          }
                      }
                  }
              } else {
                  if (features[26] < 11263) {
                      if (features[9] < 1092) {
                          return 385;
                      } else {
                          if (features[46] < 20479) {
                              return 408;
                          } else {
                              return 175;
                          }
                      }
                  } else {
                      if (features[46] < 13311) {
                          if (features[21] < 7167) {
                              if (features[28] < 7167) {
                                  return 111;
                              } else {
                                  return 403;
                              }
                          } else {
                              if (features[52] < 28671) {
                                  return 404;
                              } else {
                                  return 405;
                              }
                          }
                      } else {
                          if (features[38] < 17553) {
                              return 393;
                          } else {
                              if (features[45] < 7167) {
                                  return 111;
                              } else {
                                  return 402;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_14(const int16_t *features, int32_t features_length) {
          if (features[54] < 1023) {
              if (features[21] < 1023) {
                  if (features[41] < 3071) {
                      if (features[9] < 1092) {
                          if (features[4] < 25599) {
                              return 441;
                          } else {
                              return 23;
                          }
                      } else {
                          return 430;
                      }
                  } else {
                      return 417;
                  }
              } else {
                  if (features[38] < 1170) {
                      if (features[12] < 29695) {
                          if (features[42] < 13311) {
                              if (features[58] < 11263) {
                                  if (features[7] < 3276) {
                                      return 439;
                                  } else {
                                      return 440;
                                  }
                              } else {
                                  return 427;
                              }
                          } else {
                              if (features[27] < 16383) {
                                  return 428;
                              } else {
                                  return 429;
                              }
                          }
                      } else {
                          if (features[20] < 27647) {
                              return 418;
                          } else {
                              if (features[60] < 1023) {
                                  return 71;
                              } else {
                                  return 436;
                              }
                          }
                      }
                  } else {
                      if (features[36] < 7167) {
                          if (features[41] < 1023) {
                              return 419;
                          } else {
                              return 420;
                          }
                      } else {
                          if (features[26] < 20479) {
                              return 421;
                          } else {
                              return 422;
                          }
                      }
                  }
              }
          } else {
              if (features[28] < 5119) {
                  if (features[36] < 1023) {
                      return 412;
                  } else {
                      return 413;
                  }
              } else {
                  if (features[45] < 7167) {
                      if (features[20] < 15359) {
                          return 414;
                      } else {
                          return 415;
                      }
                  } else {
                      if (features[29] < 27647) {
                          if (features[34] < 13311) {
                              if (features[43] < 7167) {
                                  if (features[4] < 6143) {
                                      return 424;
                                  } else {
                                      if (features[21] < 1023) {
                                          return 431;
                                      } else {
                                          if (features[28] < 17407) {
                                              return 434;
                                          } else {
                                              return 435;
                                          }
                                      }
                                  }
                              } else {
                                  if (features[2] < 15359) {
                                      return 425;
                                  } else {
                                      return 426;
                                  }
                              }
                          } else {
                              if (features[46] < 10239) {
                                  return 423;
                              } else {
                                  if (features[51] < 13311) {
                                      return 432;
                                  } else {
                                      return 433;
                                  }
                              }
                          }
                      } else {
                          if (features[36] < 31743) {
                              if (features[27] < 1023) {
                                  return 437;
                              } else {
                                  return 438;
                              }
                          } else {
                              return 416;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_15(const int16_t *features, int32_t features_length) {
          if (features[33] < 8191) {
              if (features[53] < 1023) {
                  if (features[37] < 1023) {
                      if (features[28] < 19455) {
                          return 446;
                      } else {
                          if (features[21] < 18431) {
                              return 463;
                          } else {
                              return 464;
                          }
                      }
                  } else {
                      return 444;
                  }
              } else {
                  if (features[45] < 1023) {
                      return 445;
                  } else {
                      if (features[33] < 1170) {
                          if (features[29] < 27647) {
                              if (features[18] < 7167) {
                                  if (features[44] < 29695) {
                                      if (features[51] < 19455) {
                                          return 461;
                                      } else {
                                          return 462;
                                      }
                                  } else {
                                      return 452;
                                  }
                              } else {
                                  if (features[38] < 1170) {
                                      if (features[61] < 1023) {
                                          return 453;
                                      } else {
                                          if (features[54] < 17407) {
                                              if (features[52] < 31743) {
                                                  if (features[43] < 3071) {
                                                      return 467;
                                                  } else {
                                                      return 468;
                                                  }
                                              } else {
                                                  return 465;
                                              }
                                          } else {
                                              if (features[10] < 29695) {
                                                  return 466;
                                              } else {
                                                  return 16;
                                              }
                                          }
                                      }
                                  } else {
                                      if (features[10] < 19455) {
                                          return 454;
                                      } else {
                                          if (features[30] < 6552) {
                                              return 455;
                                          } else {
                                              return 456;
                                          }
                                      }
                                  }
                              }
                          } else {
                              if (features[52] < 23551) {
                                  if (features[42] < 19455) {
                                      if (features[3] < 8191) {
                                          return 470;
                                      } else {
                                          return 471;
                                      }
                                  } else {
                                      return 469;
                                  }
                              } else {
                                  return 451;
                              }
                          }
                      } else {
                          if (features[12] < 29695) {
                              if (features[42] < 20479) {
                                  return 459;
                              } else {
                                  if (features[21] < 6143) {
                                      return 111;
                                  } else {
                                      return 460;
                                  }
                              }
                          } else {
                              return 450;
                          }
                      }
                  }
              }
          } else {
              if (features[21] < 15359) {
                  if (features[29] < 15359) {
                      if (features[52] < 19455) {
                          return 449;
                      } else {
                          if (features[58] < 1023) {
                              return 457;
                          } else {
                              return 458;
                          }
                      }
                  } else {
                      return 442;
                  }
              } else {
                  if (features[53] < 13311) {
                      return 443;
                  } else {
                      if (features[3] < 11263) {
                          return 447;
                      } else {
                          return 448;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_16(const int16_t *features, int32_t features_length) {
          if (features[61] < 1023) {
              if (features[52] < 19455) {
                  if (features[5] < 1023) {
                      return 472;
                  } else {
                      return 473;
                  }
              } else {
                  if (features[30] < 1092) {
                      if (features[58] < 7167) {
                          return 479;
                      } else {
                          return 480;
                      }
                  } else {
                      if (features[34] < 25599) {
                          if (features[45] < 18431) {
                              return 490;
                          } else {
                              return 491;
                          }
                      } else {
                          if (features[19] < 9215) {
                              return 492;
                          } else {
                              return 493;
                          }
                      }
                  }
              }
          } else {
              if (features[10] < 19455) {
                  if (features[13] < 9215) {
                      if (features[50] < 11263) {
                          if (features[30] < 2184) {
                              return 487;
                          } else {
                              return 488;
                          }
                      } else {
                          return 474;
                      }
                  } else {
                      if (features[38] < 5851) {
                          if (features[2] < 15359) {
                              if (features[52] < 12287) {
                                  return 496;
                              } else {
                                  return 497;
                              }
                          } else {
                              return 494;
                          }
                      } else {
                          if (features[34] < 16383) {
                              return 495;
                          } else {
                              if (features[28] < 4095) {
                                  return 21;
                              } else {
                                  return 501;
                              }
                          }
                      }
                  }
              } else {
                  if (features[26] < 11263) {
                      if (features[18] < 11263) {
                          if (features[37] < 1023) {
                              return 481;
                          } else {
                              return 482;
                          }
                      } else {
                          if (features[43] < 7167) {
                              if (features[30] < 4368) {
                                  return 483;
                              } else {
                                  return 484;
                              }
                          } else {
                              if (features[27] < 27647) {
                                  return 485;
                              } else {
                                  return 486;
                              }
                          }
                      }
                  } else {
                      if (features[5] < 23551) {
                          if (features[36] < 1023) {
                              return 475;
                          } else {
                              if (features[36] < 19455) {
                                  return 478;
                              } else {
                                  if (features[52] < 29695) {
                                      if (features[10] < 27647) {
                                          return 498;
                                      } else {
                                          if (features[43] < 8191) {
                                              if (features[29] < 27647) {
                                                  return 500;
                                              } else {
                                                  return 256;
                                              }
                                          } else {
                                              return 499;
                                          }
                                      }
                                  } else {
                                      return 489;
                                  }
                              }
                          }
                      } else {
                          if (features[22] < 1023) {
                              return 476;
                          } else {
                              return 477;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_17(const int16_t *features, int32_t features_length) {
          if (features[20] < 7167) {
              if (features[35] < 3071) {
                  if (features[30] < 7645) {
                      return 502;
                  } else {
                      if (features[50] < 13311) {
                          return 522;
                      } else {
                          if (features[13] < 7167) {
                              return 60;
                          } else {
                              return 524;
                          }
                      }
                  }
              } else {
                  if (features[50] < 11263) {
                      if (features[29] < 15359) {
                          return 503;
                      } else {
                          if (features[30] < 12014) {
                              if (features[14] < 11263) {
                                  return 525;
                              } else {
                                  return 526;
                              }
                          } else {
                              if (features[13] < 4095) {
                                  return 60;
                              } else {
                                  if (features[18] < 13311) {
                                      return 71;
                                  } else {
                                      return 527;
                                  }
                              }
                          }
                      }
                  } else {
                      if (features[54] < 3071) {
                          return 504;
                      } else {
                          if (features[17] < 11263) {
                              return 505;
                          } else {
                              return 506;
                          }
                      }
                  }
              }
          } else {
              if (features[54] < 1023) {
                  if (features[30] < 1092) {
                      if (features[12] < 29695) {
                          return 508;
                      } else {
                          return 509;
                      }
                  } else {
                      if (features[58] < 5119) {
                          if (features[21] < 16383) {
                              return 60;
                          } else {
                              return 512;
                          }
                      } else {
                          if (features[53] < 1023) {
                              return 513;
                          } else {
                              return 514;
                          }
                      }
                  }
              } else {
                  if (features[52] < 15359) {
                      if (features[38] < 3510) {
                          return 507;
                      } else {
                          if (features[29] < 23551) {
                              if (features[28] < 27647) {
                                  return 519;
                              } else {
                                  return 520;
                              }
                          } else {
                              if (features[44] < 3071) {
                                  return 521;
                              } else {
                                  return 51;
                              }
                          }
                      }
                  } else {
                      if (features[62] < 5119) {
                          if (features[26] < 13311) {
                              if (features[45] < 19455) {
                                  return 515;
                              } else {
                                  if (features[19] < 21503) {
                                      return 517;
                                  } else {
                                      return 518;
                                  }
                              }
                          } else {
                              if (features[35] < 23551) {
                                  if (features[11] < 31743) {
                                      return 523;
                                  } else {
                                      return 21;
                                  }
                              } else {
                                  return 516;
                              }
                          }
                      } else {
                          if (features[43] < 7167) {
                              return 510;
                          } else {
                              return 511;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_18(const int16_t *features, int32_t features_length) {
          if (features[60] < 7167) {
              if (features[52] < 19455) {
                  if (features[12] < 9215) {
                      return 541;
                  } else {
                      return 542;
                  }
              } else {
                  return 528;
              }
          } else {
              if (features[44] < 11263) {
                  if (features[28] < 5119) {
                      if (features[33] < 3510) {
                          return 529;
                      } else {
                          if (features[54] < 15359) {
                              return 553;
                          } else {
                              return 554;
                          }
                      }
                  } else {
                      if (features[13] < 17407) {
                          if (features[46] < 1023) {
                              return 537;
                          } else {
                              if (features[51] < 21503) {
                                  if (features[54] < 26623) {
                                      if (features[26] < 17407) {
                                          return 547;
                                      } else {
                                          return 548;
                                      }
                                  } else {
                                      return 256;
                                  }
                              } else {
                                  if (features[9] < 4368) {
                                      return 111;
                                  } else {
                                      return 540;
                                  }
                              }
                          }
                      } else {
                          if (features[30] < 3276) {
                              if (features[29] < 25599) {
                                  if (features[35] < 21503) {
                                      return 545;
                                  } else {
                                      return 546;
                                  }
                              } else {
                                  return 539;
                              }
                          } else {
                              return 538;
                          }
                      }
                  }
              } else {
                  if (features[34] < 1023) {
                      if (features[51] < 17407) {
                          if (features[3] < 3071) {
                              return 51;
                          } else {
                              if (features[26] < 3071) {
                                  return 175;
                              } else {
                                  return 555;
                              }
                          }
                      } else {
                          if (features[27] < 17407) {
                              return 533;
                          } else {
                              return 534;
                          }
                      }
                  } else {
                      if (features[54] < 17407) {
                          if (features[10] < 13311) {
                              if (features[5] < 15359) {
                                  if (features[2] < 1023) {
                                      return 543;
                                  } else {
                                      return 544;
                                  }
                              } else {
                                  return 532;
                              }
                          } else {
                              if (features[20] < 3071) {
                                  if (features[22] < 3071) {
                                      return 535;
                                  } else {
                                      return 536;
                                  }
                              } else {
                                  if (features[19] < 31743) {
                                      if (features[37] < 16383) {
                                          return 549;
                                      } else {
                                          return 550;
                                      }
                                  } else {
                                      if (features[43] < 31743) {
                                          return 551;
                                      } else {
                                          return 552;
                                      }
                                  }
                              }
                          }
                      } else {
                          if (features[18] < 13311) {
                              return 530;
                          } else {
                              return 531;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_19(const int16_t *features, int32_t features_length) {
          if (features[46] < 11263) {
              if (features[9] < 1092) {
                  if (features[19] < 21503) {
                      if (features[28] < 1023) {
                          if (features[35] < 12287) {
                              return 566;
                          } else {
                              return 567;
                          }
                      } else {
                          if (features[12] < 13311) {
                              if (features[27] < 15359) {
                                  if (features[25] < 1092) {
                                      return 578;
                                  } else {
                                      return 493;
                                  }
                              } else {
                                  return 568;
                              }
                          } else {
                              if (features[36] < 17407) {
                                  return 569;
                              } else {
                                  return 570;
                              }
                          }
                      }
                  } else {
                      if (features[27] < 31743) {
                          if (features[38] < 1170) {
                              return 559;
                          } else {
                              if (features[62] < 4095) {
                                  return 571;
                              } else {
                                  return 51;
                              }
                          }
                      } else {
                          if (features[38] < 10532) {
                              return 560;
                          } else {
                              return 561;
                          }
                      }
                  }
              } else {
                  if (features[25] < 3276) {
                      if (features[5] < 7167) {
                          if (features[34] < 3071) {
                              return 576;
                          } else {
                              if (features[60] < 10239) {
                                  return 71;
                              } else {
                                  if (features[21] < 19455) {
                                      return 579;
                                  } else {
                                      return 580;
                                  }
                              }
                          }
                      } else {
                          if (features[21] < 2047) {
                              return 23;
                          } else {
                              if (features[58] < 13311) {
                                  return 577;
                              } else {
                                  if (features[38] < 1170) {
                                      return 581;
                                  } else {
                                      return 582;
                                  }
                              }
                          }
                      }
                  } else {
                      if (features[21] < 3071) {
                          return 573;
                      } else {
                          if (features[37] < 12287) {
                              return 574;
                          } else {
                              return 575;
                          }
                      }
                  }
              }
          } else {
              if (features[9] < 1092) {
                  if (features[21] < 7167) {
                      if (features[42] < 14335) {
                          return 556;
                      } else {
                          return 557;
                      }
                  } else {
                      if (features[34] < 12287) {
                          if (features[18] < 5119) {
                              return 175;
                          } else {
                              return 572;
                          }
                      } else {
                          return 558;
                      }
                  }
              } else {
                  if (features[30] < 3276) {
                      if (features[20] < 7167) {
                          return 562;
                      } else {
                          return 563;
                      }
                  } else {
                      if (features[33] < 3510) {
                          return 564;
                      } else {
                          return 565;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_20(const int16_t *features, int32_t features_length) {
          if (features[28] < 1023) {
              if (features[29] < 5119) {
                  if (features[54] < 2047) {
                      return 583;
                  } else {
                      return 584;
                  }
              } else {
                  if (features[44] < 19455) {
                      return 585;
                  } else {
                      return 586;
                  }
              }
          } else {
              if (features[10] < 19455) {
                  if (features[38] < 1170) {
                      if (features[42] < 21503) {
                          if (features[58] < 19455) {
                              if (features[19] < 21503) {
                                  return 603;
                              } else {
                                  return 604;
                              }
                          } else {
                              return 600;
                          }
                      } else {
                          if (features[20] < 29695) {
                              return 601;
                          } else {
                              return 602;
                          }
                      }
                  } else {
                      if (features[33] < 8191) {
                          if (features[42] < 19455) {
                              if (features[43] < 3071) {
                                  return 598;
                              } else {
                                  return 599;
                              }
                          } else {
                              return 594;
                          }
                      } else {
                          if (features[13] < 27647) {
                              if (features[61] < 17407) {
                                  return 609;
                              } else {
                                  return 610;
                              }
                          } else {
                              return 595;
                          }
                      }
                  }
              } else {
                  if (features[43] < 7167) {
                      if (features[61] < 5119) {
                          if (features[49] < 5119) {
                              if (features[22] < 4095) {
                                  return 611;
                              } else {
                                  return 612;
                              }
                          } else {
                              return 589;
                          }
                      } else {
                          if (features[26] < 7167) {
                              return 590;
                          } else {
                              if (features[21] < 10239) {
                                  return 591;
                              } else {
                                  if (features[58] < 3071) {
                                      return 592;
                                  } else {
                                      return 593;
                                  }
                              }
                          }
                      }
                  } else {
                      if (features[60] < 15359) {
                          if (features[17] < 7167) {
                              return 587;
                          } else {
                              if (features[52] < 12287) {
                                  return 596;
                              } else {
                                  return 597;
                              }
                          }
                      } else {
                          if (features[27] < 21503) {
                              if (features[30] < 1092) {
                                  if (features[34] < 7167) {
                                      return 613;
                                  } else {
                                      return 614;
                                  }
                              } else {
                                  return 588;
                              }
                          } else {
                              if (features[11] < 31743) {
                                  if (features[21] < 6143) {
                                      return 605;
                                  } else {
                                      return 606;
                                  }
                              } else {
                                  if (features[21] < 19455) {
                                      return 607;
                                  } else {
                                      return 608;
                                  }
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_21(const int16_t *features, int32_t features_length) {
          if (features[60] < 15359) {
              if (features[37] < 3071) {
                  return 615;
              } else {
                  if (features[52] < 29695) {
                      return 624;
                  } else {
                      return 625;
                  }
              }
          } else {
              if (features[21] < 1023) {
                  if (features[10] < 25599) {
                      if (features[34] < 17407) {
                          if (features[26] < 29695) {
                              return 622;
                          } else {
                              return 23;
                          }
                      } else {
                          if (features[61] < 15359) {
                              if (features[2] < 5119) {
                                  return 626;
                              } else {
                                  return 627;
                              }
                          } else {
                              return 623;
                          }
                      }
                  } else {
                      if (features[37] < 1023) {
                          if (features[14] < 1023) {
                              if (features[20] < 11263) {
                                  return 634;
                              } else {
                                  return 16;
                              }
                          } else {
                              return 23;
                          }
                      } else {
                          if (features[27] < 11263) {
                              return 628;
                          } else {
                              if (features[18] < 18431) {
                                  return 637;
                              } else {
                                  return 638;
                              }
                          }
                      }
                  }
              } else {
                  if (features[44] < 11263) {
                      if (features[29] < 23551) {
                          if (features[26] < 11263) {
                              if (features[43] < 13311) {
                                  if (features[42] < 27647) {
                                      return 619;
                                  } else {
                                      return 233;
                                  }
                              } else {
                                  return 16;
                              }
                          } else {
                              if (features[42] < 15359) {
                                  return 617;
                              } else {
                                  return 618;
                              }
                          }
                      } else {
                          if (features[28] < 5119) {
                              return 21;
                          } else {
                              if (features[43] < 5119) {
                                  return 620;
                              } else {
                                  return 233;
                              }
                          }
                      }
                  } else {
                      if (features[27] < 31743) {
                          if (features[37] < 23551) {
                              if (features[34] < 1023) {
                                  if (features[51] < 17407) {
                                      return 629;
                                  } else {
                                      if (features[19] < 23551) {
                                          return 16;
                                      } else {
                                          return 633;
                                      }
                                  }
                              } else {
                                  if (features[18] < 15359) {
                                      return 630;
                                  } else {
                                      return 631;
                                  }
                              }
                          } else {
                              if (features[62] < 1023) {
                                  if (features[17] < 5119) {
                                      if (features[33] < 8191) {
                                          return 635;
                                      } else {
                                          return 636;
                                      }
                                  } else {
                                      return 632;
                                  }
                              } else {
                                  return 621;
                              }
                          }
                      } else {
                          return 616;
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_22(const int16_t *features, int32_t features_length) {
          if (features[2] < 1023) {
              if (features[30] < 1092) {
                  if (features[21] < 1023) {
                      if (features[49] < 7167) {
                          if (features[33] < 23405) {
                              return 665;
                          } else {
                              return 60;
                          }
                      } else {
                          return 60;
                      }
                  } else {
                      if (features[27] < 25599) {
                          return 647;
                      } else {
                          return 648;
                      }
                  }
              } else {
                  if (features[5] < 21503) {
                      if (features[44] < 17407) {
                          if (features[36] < 4095) {
                              return 652;
                          } else {
                              return 653;
                          }
                      } else {
                          return 60;
                      }
                  } else {
                      return 646;
                  }
              }
          } else {
              if (features[26] < 9215) {
                  if (features[54] < 1023) {
                      if (features[38] < 1170) {
                          if (features[50] < 19455) {
                              return 640;
                          } else {
                              return 641;
                          }
                      } else {
                          return 639;
                      }
                  } else {
                      if (features[58] < 27647) {
                          if (features[45] < 13311) {
                              if (features[37] < 25599) {
                                  return 660;
                              } else {
                                  return 175;
                              }
                          } else {
                              if (features[51] < 27647) {
                                  return 661;
                              } else {
                                  return 662;
                              }
                          }
                      } else {
                          if (features[45] < 4095) {
                              return 16;
                          } else {
                              return 659;
                          }
                      }
                  }
              } else {
                  if (features[50] < 17407) {
                      if (features[21] < 7167) {
                          if (features[17] < 3071) {
                              if (features[5] < 3071) {
                                  return 663;
                              } else {
                                  return 664;
                              }
                          } else {
                              return 644;
                          }
                      } else {
                          if (features[61] < 1023) {
                              return 645;
                          } else {
                              if (features[29] < 26623) {
                                  return 654;
                              } else {
                                  return 655;
                              }
                          }
                      }
                  } else {
                      if (features[36] < 1023) {
                          if (features[41] < 1023) {
                              return 642;
                          } else {
                              return 643;
                          }
                      } else {
                          if (features[20] < 3071) {
                              if (features[5] < 17407) {
                                  return 649;
                              } else {
                                  return 650;
                              }
                          } else {
                              if (features[29] < 29695) {
                                  if (features[10] < 25599) {
                                      if (features[34] < 20479) {
                                          return 657;
                                      } else {
                                          return 658;
                                      }
                                  } else {
                                      return 656;
                                  }
                              } else {
                                  return 651;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_23(const int16_t *features, int32_t features_length) {
          if (features[33] < 3510) {
              if (features[30] < 1092) {
                  if (features[26] < 11263) {
                      if (features[51] < 21503) {
                          return 669;
                      } else {
                          if (features[52] < 19455) {
                              if (features[50] < 17407) {
                                  return 688;
                              } else {
                                  if (features[2] < 11263) {
                                      return 691;
                                  } else {
                                      return 16;
                                  }
                              }
                          } else {
                              if (features[27] < 27647) {
                                  return 689;
                              } else {
                                  return 690;
                              }
                          }
                      }
                  } else {
                      if (features[1] < 2047) {
                          if (features[10] < 19455) {
                              if (features[27] < 31743) {
                                  if (features[29] < 13311) {
                                      return 679;
                                  } else {
                                      return 680;
                                  }
                              } else {
                                  return 675;
                              }
                          } else {
                              if (features[42] < 1023) {
                                  if (features[58] < 17407) {
                                      return 677;
                                  } else {
                                      return 678;
                                  }
                              } else {
                                  return 676;
                              }
                          }
                      } else {
                          return 670;
                      }
                  }
              } else {
                  if (features[53] < 1023) {
                      if (features[35] < 25599) {
                          return 667;
                      } else {
                          return 71;
                      }
                  } else {
                      if (features[26] < 3071) {
                          return 668;
                      } else {
                          if (features[13] < 7167) {
                              return 685;
                          } else {
                              if (features[42] < 9215) {
                                  if (features[5] < 29695) {
                                      return 256;
                                  } else {
                                      return 687;
                                  }
                              } else {
                                  return 686;
                              }
                          }
                      }
                  }
              }
          } else {
              if (features[44] < 25599) {
                  if (features[29] < 11263) {
                      if (features[42] < 27647) {
                          if (features[28] < 1023) {
                              return 673;
                          } else {
                              return 674;
                          }
                      } else {
                          return 671;
                      }
                  } else {
                      if (features[43] < 17407) {
                          if (features[12] < 17407) {
                              if (features[42] < 15359) {
                                  return 682;
                              } else {
                                  return 683;
                              }
                          } else {
                              if (features[36] < 1023) {
                                  return 21;
                              } else {
                                  return 684;
                              }
                          }
                      } else {
                          return 672;
                      }
                  }
              } else {
                  if (features[13] < 7167) {
                      if (features[30] < 1092) {
                          if (features[51] < 29695) {
                              return 692;
                          } else {
                              return 111;
                          }
                      } else {
                          return 681;
                      }
                  } else {
                      return 666;
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_24(const int16_t *features, int32_t features_length) {
          if (features[30] < 1092) {
              if (features[58] < 7167) {
                  if (features[38] < 1170) {
                      if (features[18] < 11263) {
                          return 705;
                      } else {
                          if (features[27] < 25599) {
                              if (features[45] < 10239) {
                                  return 713;
                              } else {
                                  return 714;
                              }
                          } else {
                              if (features[12] < 29695) {
                                  return 715;
                              } else {
                                  return 716;
                              }
                          }
                      }
                  } else {
                      if (features[62] < 1023) {
                          if (features[33] < 21064) {
                              return 707;
                          } else {
                              return 60;
                          }
                      } else {
                          return 706;
                      }
                  }
              } else {
                  if (features[51] < 19455) {
                      if (features[42] < 17407) {
                          if (features[5] < 29695) {
                              if (features[20] < 9215) {
                                  return 717;
                              } else {
                                  if (features[62] < 18431) {
                                      return 719;
                                  } else {
                                      return 720;
                                  }
                              }
                          } else {
                              if (features[18] < 12287) {
                                  return 175;
                              } else {
                                  return 718;
                              }
                          }
                      } else {
                          if (features[38] < 2340) {
                              return 703;
                          } else {
                              return 704;
                          }
                      }
                  } else {
                      if (features[61] < 3071) {
                          if (features[27] < 11263) {
                              return 699;
                          } else {
                              if (features[21] < 5119) {
                                  return 708;
                              } else {
                                  return 709;
                              }
                          }
                      } else {
                          if (features[38] < 1170) {
                              if (features[26] < 14335) {
                                  return 711;
                              } else {
                                  return 712;
                              }
                          } else {
                              return 700;
                          }
                      }
                  }
              }
          } else {
              if (features[41] < 1023) {
                  if (features[46] < 5119) {
                      if (features[53] < 1023) {
                          return 696;
                      } else {
                          return 697;
                      }
                  } else {
                      if (features[58] < 3071) {
                          return 698;
                      } else {
                          if (features[27] < 4095) {
                              return 710;
                          } else {
                              if (features[20] < 3071) {
                                  return 721;
                              } else {
                                  return 119;
                              }
                          }
                      }
                  }
              } else {
                  if (features[58] < 1023) {
                      if (features[44] < 21503) {
                          return 693;
                      } else {
                          return 694;
                      }
                  } else {
                      if (features[35] < 13311) {
                          return 695;
                      } else {
                          if (features[43] < 17407) {
                              return 701;
                          } else {
                              return 702;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_25(const int16_t *features, int32_t features_length) {
          if (features[61] < 1023) {
              if (features[25] < 3276) {
                  if (features[19] < 23551) {
                      if (features[29] < 9215) {
                          return 727;
                      } else {
                          return 728;
                      }
                  } else {
                      if (features[6] < 10239) {
                          return 729;
                      } else {
                          return 730;
                      }
                  }
              } else {
                  if (features[3] < 29695) {
                      if (features[21] < 1023) {
                          if (features[13] < 1023) {
                              return 740;
                          } else {
                              return 23;
                          }
                      } else {
                          if (features[34] < 23551) {
                              return 741;
                          } else {
                              return 742;
                          }
                      }
                  } else {
                      return 725;
                  }
              }
          } else {
              if (features[42] < 17407) {
                  if (features[51] < 29695) {
                      if (features[19] < 23551) {
                          if (features[38] < 12872) {
                              if (features[29] < 25599) {
                                  if (features[3] < 25599) {
                                      return 738;
                                  } else {
                                      return 739;
                                  }
                              } else {
                                  return 737;
                              }
                          } else {
                              if (features[18] < 6143) {
                                  return 175;
                              } else {
                                  if (features[29] < 27647) {
                                      return 748;
                                  } else {
                                      return 749;
                                  }
                              }
                          }
                      } else {
                          if (features[42] < 7167) {
                              if (features[44] < 14335) {
                                  if (features[25] < 7645) {
                                      return 746;
                                  } else {
                                      return 747;
                                  }
                              } else {
                                  return 745;
                              }
                          } else {
                              return 726;
                          }
                      }
                  } else {
                      if (features[10] < 17407) {
                          return 723;
                      } else {
                          return 724;
                      }
                  }
              } else {
                  if (features[35] < 13311) {
                      if (features[59] < 14335) {
                          return 722;
                      } else {
                          if (features[21] < 2047) {
                              return 731;
                          } else {
                              if (features[34] < 7167) {
                                  return 735;
                              } else {
                                  return 736;
                              }
                          }
                      }
                  } else {
                      if (features[45] < 1023) {
                          if (features[49] < 4095) {
                              return 732;
                          } else {
                              return 16;
                          }
                      } else {
                          if (features[28] < 27647) {
                              if (features[50] < 3071) {
                                  return 60;
                              } else {
                                  return 733;
                              }
                          } else {
                              if (features[33] < 3510) {
                                  if (features[12] < 31743) {
                                      return 743;
                                  } else {
                                      return 744;
                                  }
                              } else {
                                  return 734;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_26(const int16_t *features, int32_t features_length) {
          if (features[43] < 9215) {
              if (features[29] < 29695) {
                  if (features[28] < 1023) {
                      return 753;
                  } else {
                      if (features[33] < 1170) {
                          if (features[20] < 13311) {
                              return 761;
                          } else {
                              if (features[19] < 15359) {
                                  return 762;
                              } else {
                                  if (features[42] < 18431) {
                                      return 765;
                                  } else {
                                      return 233;
                                  }
                              }
                          }
                      } else {
                          if (features[61] < 17407) {
                              if (features[26] < 26623) {
                                  return 766;
                              } else {
                                  return 767;
                              }
                          } else {
                              if (features[52] < 23551) {
                                  if (features[27] < 27647) {
                                      return 776;
                                  } else {
                                      return 233;
                                  }
                              } else {
                                  return 51;
                              }
                          }
                      }
                  }
              } else {
                  if (features[20] < 29695) {
                      if (features[42] < 10239) {
                          return 770;
                      } else {
                          return 771;
                      }
                  } else {
                      return 754;
                  }
              }
          } else {
              if (features[60] < 15359) {
                  if (features[18] < 15359) {
                      return 750;
                  } else {
                      if (features[2] < 13311) {
                          if (features[25] < 12014) {
                              return 768;
                          } else {
                              if (features[30] < 1092) {
                                  return 769;
                              } else {
                                  return 60;
                              }
                          }
                      } else {
                          return 757;
                      }
                  }
              } else {
                  if (features[26] < 11263) {
                      if (features[18] < 9215) {
                          if (features[27] < 21503) {
                              return 772;
                          } else {
                              if (features[10] < 13311) {
                                  return 774;
                              } else {
                                  return 775;
                              }
                          }
                      } else {
                          if (features[22] < 3071) {
                              return 773;
                          } else {
                              return 233;
                          }
                      }
                  } else {
                      if (features[46] < 11263) {
                          if (features[41] < 3071) {
                              if (features[10] < 19455) {
                                  if (features[27] < 31743) {
                                      return 758;
                                  } else {
                                      return 759;
                                  }
                              } else {
                                  if (features[29] < 1023) {
                                      return 760;
                                  } else {
                                      if (features[35] < 11263) {
                                          return 763;
                                      } else {
                                          return 764;
                                      }
                                  }
                              }
                          } else {
                              if (features[2] < 3071) {
                                  return 755;
                              } else {
                                  return 756;
                              }
                          }
                      } else {
                          if (features[29] < 23551) {
                              return 751;
                          } else {
                              return 752;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_27(const int16_t *features, int32_t features_length) {
          if (features[21] < 3071) {
              if (features[42] < 19455) {
                  if (features[13] < 5119) {
                      if (features[27] < 31743) {
                          if (features[37] < 3071) {
                              return 788;
                          } else {
                              return 789;
                          }
                      } else {
                          return 780;
                      }
                  } else {
                      return 777;
                  }
              } else {
                  if (features[1] < 2047) {
                      if (features[41] < 11263) {
                          return 782;
                      } else {
                          return 783;
                      }
                  } else {
                      return 778;
                  }
              }
          } else {
              if (features[33] < 8191) {
                  if (features[30] < 1092) {
                      if (features[43] < 3071) {
                          if (features[60] < 21503) {
                              return 779;
                          } else {
                              if (features[25] < 3276) {
                                  if (features[36] < 5119) {
                                      return 256;
                                  } else {
                                      return 801;
                                  }
                              } else {
                                  return 800;
                              }
                          }
                      } else {
                          if (features[54] < 3071) {
                              if (features[28] < 31743) {
                                  if (features[46] < 1023) {
                                      if (features[26] < 1023) {
                                          return 793;
                                      } else {
                                          return 794;
                                      }
                                  } else {
                                      return 790;
                                  }
                              } else {
                                  if (features[10] < 18431) {
                                      return 791;
                                  } else {
                                      return 792;
                                  }
                              }
                          } else {
                              if (features[18] < 25599) {
                                  if (features[3] < 29695) {
                                      return 796;
                                  } else {
                                      return 797;
                                  }
                              } else {
                                  return 781;
                              }
                          }
                      }
                  } else {
                      if (features[6] < 5119) {
                          if (features[36] < 21503) {
                              return 784;
                          } else {
                              if (features[38] < 3510) {
                                  return 787;
                              } else {
                                  if (features[53] < 1023) {
                                      return 798;
                                  } else {
                                      return 799;
                                  }
                              }
                          }
                      } else {
                          if (features[2] < 1023) {
                              return 785;
                          } else {
                              return 786;
                          }
                      }
                  }
              } else {
                  if (features[28] < 1023) {
                      if (features[3] < 11263) {
                          return 60;
                      } else {
                          return 21;
                      }
                  } else {
                      if (features[58] < 1023) {
                          if (features[61] < 9215) {
                              if (features[26] < 21503) {
                                  return 71;
                              } else {
                                  return 802;
                              }
                          } else {
                              return 447;
                          }
                      } else {
                          if (features[33] < 24575) {
                              return 795;
                          } else {
                              return 60;
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_28(const int16_t *features, int32_t features_length) {
          if (features[43] < 5119) {
              if (features[36] < 1023) {
                  if (features[25] < 7645) {
                      return 803;
                  } else {
                      return 804;
                  }
              } else {
                  if (features[29] < 25599) {
                      if (features[26] < 12287) {
                          if (features[59] < 23551) {
                              return 806;
                          } else {
                              return 807;
                          }
                      } else {
                          if (features[58] < 17407) {
                              return 808;
                          } else {
                              if (features[18] < 19455) {
                                  return 827;
                              } else {
                                  return 828;
                              }
                          }
                      }
                  } else {
                      if (features[59] < 8191) {
                          if (features[53] < 22527) {
                              return 829;
                          } else {
                              return 51;
                          }
                      } else {
                          if (features[34] < 21503) {
                              return 830;
                          } else {
                              return 831;
                          }
                      }
                  }
              }
          } else {
              if (features[53] < 1023) {
                  if (features[60] < 17407) {
                      if (features[36] < 13311) {
                          return 809;
                      } else {
                          if (features[17] < 13311) {
                              return 825;
                          } else {
                              return 826;
                          }
                      }
                  } else {
                      if (features[38] < 1170) {
                          if (features[51] < 25599) {
                              return 813;
                          } else {
                              return 814;
                          }
                      } else {
                          return 810;
                      }
                  }
              } else {
                  if (features[62] < 1023) {
                      if (features[13] < 13311) {
                          if (features[54] < 3071) {
                              if (features[10] < 21503) {
                                  return 823;
                              } else {
                                  return 824;
                              }
                          } else {
                              return 811;
                          }
                      } else {
                          if (features[10] < 17407) {
                              return 812;
                          } else {
                              if (features[27] < 15359) {
                                  if (features[41] < 1023) {
                                      return 818;
                                  } else {
                                      return 819;
                                  }
                              } else {
                                  if (features[29] < 1023) {
                                      return 820;
                                  } else {
                                      return 821;
                                  }
                              }
                          }
                      }
                  } else {
                      if (features[20] < 7167) {
                          if (features[22] < 1023) {
                              if (features[63] < 15359) {
                                  return 822;
                              } else {
                                  return 51;
                              }
                          } else {
                              return 805;
                          }
                      } else {
                          if (features[9] < 1092) {
                              if (features[35] < 9215) {
                                  return 16;
                              } else {
                                  return 815;
                              }
                          } else {
                              if (features[20] < 15359) {
                                  return 816;
                              } else {
                                  return 817;
                              }
                          }
                      }
                  }
              }
          }
        }
        

static inline int32_t mytree_tree_29(const int16_t *features, int32_t features_length) {
          if (features[36] < 1023) {
              if (features[21] < 6143) {
                  return 832;
              } else {
                  if (features[33] < 2340) {
                      return 844;
                  } else {
                      if (features[5] < 25599) {
                          return 21;
                      } else {
                          return 845;
                      }
                  }
              }
          } else {
              if (features[60] < 15359) {
                  if (features[18] < 21503) {
                      return 833;
                  } else {
                      if (features[26] < 18431) {
                          return 841;
                      } else {
                          if (features[21] < 8191) {
                              return 23;
                          } else {
                              if (features[33] < 3510) {
                                  return 857;
                              } else {
                                  return 858;
                              }
                          }
                      }
                  }
              } else {
                  if (features[21] < 1023) {
                      if (features[50] < 11263) {
                          if (features[45] < 5119) {
                              return 837;
                          } else {
                              if (features[20] < 8191) {
                                  return 847;
                              } else {
                                  return 848;
                              }
                          }
                      } else {
                          if (features[26] < 21503) {
                              if (features[38] < 1170) {
                                  if (features[9] < 4368) {
                                      return 852;
                                  } else {
                                      return 853;
                                  }
                              } else {
                                  return 838;
                              }
                          } else {
                              if (features[2] < 11263) {
                                  return 839;
                              } else {
                                  if (features[43] < 3071) {
                                      return 23;
                                  } else {
                                      return 840;
                                  }
                              }
                          }
                      }
                  } else {
                      if (features[33] < 10532) {
                          if (features[45] < 13311) {
                              if (features[30] < 1092) {
                                  if (features[27] < 25599) {
                                      return 854;
                                  } else {
                                      if (features[22] < 1023) {
                                          return 855;
                                      } else {
                                          return 856;
                                      }
                                  }
                              } else {
                                  return 836;
                              }
                          } else {
                              if (features[2] < 11263) {
                                  if (features[10] < 1023) {
                                      return 842;
                                  } else {
                                      if (features[43] < 7167) {
                                          if (features[30] < 5460) {
                                              return 850;
                                          } else {
                                              return 851;
                                          }
                                      } else {
                                          return 849;
                                      }
                                  }
                              } else {
                                  if (features[34] < 7167) {
                                      if (features[43] < 9215) {
                                          if (features[18] < 19455) {
                                              return 859;
                                          } else {
                                              return 860;
                                          }
                                      } else {
                                          return 846;
                                      }
                                  } else {
                                      return 843;
                                  }
                              }
                          }
                      } else {
                          if (features[5] < 19455) {
                              return 834;
                          } else {
                              return 835;
                          }
                      }
                  }
              }
          }
        }
        

static const uint8_t mytree_leaves[8610] = { 0, 0, 0, 22, 0, 192, 0, 4, 36, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0, 237, 0, 5, 5, 230, 0, 0, 0, 0, 7, 7, 0, 5, 0, 0, 0, 0, 247, 0, 2, 0, 14, 60, 42, 0, 0, 0, 0, 0, 134, 5, 17, 14, 180, 12, 0, 0, 0, 0, 19, 12, 20, 0, 0, 0, 0, 10, 0, 0, 0, 225, 0, 0, 0, 0, 166, 0, 0, 88, 0, 0, 0, 0, 224, 0, 0, 0, 30, 0, 0, 0, 0, 208, 46, 0, 0, 0, 0, 0, 0, 0, 0, 39, 0, 130, 13, 33, 0, 7, 13, 20, 0, 0, 0, 0, 0, 24, 8, 0, 4, 218, 0, 0, 0, 0, 0, 152, 0, 0, 0, 102, 0, 0, 0, 0, 152, 0, 0, 102, 0, 0, 0, 9, 0, 0, 210, 0, 18, 0, 18, 0, 0, 17, 40, 35, 0, 12, 23, 6, 121, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 199, 6, 6, 18, 0, 0, 0, 26, 0, 10, 20, 0, 10, 59, 137, 0, 20, 0, 0, 0, 0, 0, 0, 0, 32, 222, 0, 0, 0, 32, 0, 3, 0, 213, 0, 0, 0, 0, 6, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 251, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42, 85, 0, 42, 85, 0, 0, 0, 13, 0, 224, 9, 0, 4, 4, 0, 2, 0, 4, 4, 0, 0, 232, 10, 2, 0, 25, 0, 0, 19, 37, 0, 105, 12, 56, 0, 218, 0, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0, 0, 95, 16, 0, 32, 16, 95, 0, 162, 0, 0, 46, 0, 0, 0, 46, 0, 0, 3, 3, 0, 7, 0, 0, 0, 227, 14, 245, 0, 2, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 229, 0, 0, 25, 0, 0, 0, 0, 17, 0, 51, 0, 0, 17, 169, 0, 0, 4, 4, 0, 0, 245, 0, 0, 0, 0, 0, 0, 28, 0, 188, 0, 19, 0, 19, 0, 13, 0, 9, 0, 184, 0, 13, 4, 31, 0, 47, 0, 47, 0, 16, 0, 0, 26, 119, 0, 169, 12, 0, 0, 0, 8, 0, 65, 0, 0, 0, 6, 68, 0, 0, 0, 0, 0, 180, 0, 0, 71, 21, 7, 28, 0, 78, 35, 14, 0, 0, 0, 2, 0, 0, 0, 247, 5, 0, 10, 0, 0, 0, 78, 10, 147, 10, 0, 0, 0, 0, 0, 0, 214, 13, 0, 0, 0, 27, 0, 27, 0, 0, 9, 82, 0, 127, 9, 0, 0, 8, 0, 0, 23, 0, 223, 0, 0, 0, 75, 22, 30, 0, 82, 0, 15, 0, 30, 0, 0, 185, 0, 0, 0, 0, 0, 0, 48, 21, 2, 2, 0, 0, 218, 0, 0, 14, 7, 9, 74, 0, 0, 0, 53, 0, 127, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 15, 9, 0, 0, 0, 18, 199, 3, 0, 0, 200, 0, 0, 0, 18, 0, 36, 0, 0, 0, 2, 230, 0, 7, 0, 0, 0, 14, 0, 0, 20, 41, 0, 0, 0, 10, 0, 183, 0, 11, 0, 22, 0, 221, 0, 0, 0, 0, 0, 44, 8, 12, 0, 8, 0, 24, 0, 159, 0, 0, 187, 13, 0, 0, 0, 0, 53, 0, 0, 187, 7, 0, 0, 40, 0, 0, 20, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 231, 0, 0, 0, 0, 0, 116, 0, 0, 0, 0, 0, 138, 0, 0, 0, 0, 0, 226, 28, 0, 0, 0, 0, 0, 7, 162, 21, 0, 35, 14, 0, 14, 0, 0, 8, 238, 0, 0, 0, 0, 0, 0, 8, 251, 0, 3, 0, 0, 0, 0, 0, 0, 0, 21, 0, 0, 0, 169, 0, 0, 64, 0, 0, 0, 9, 0, 0, 209, 4, 0, 31, 0, 0, 0, 3, 0, 3, 3, 0, 0, 236, 0, 9, 0, 76, 0, 25, 51, 0, 0, 0, 51, 51, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 145, 0, 0, 0, 22, 7, 80, 0, 121, 79, 0, 0, 0, 54, 0, 0, 0, 0, 0, 15, 120, 15, 90, 15, 0, 0, 0, 0, 42, 116, 11, 32, 0, 0, 32, 16, 5, 0, 13, 0, 151, 0, 17, 0, 4, 13, 56, 4, 2, 0, 0, 8, 229, 8, 4, 0, 0, 0, 104, 69, 23, 0, 0, 0, 58, 0, 0, 0, 0, 0, 32, 0, 0, 0, 159, 64, 0, 0, 0, 0, 0, 0, 4, 250, 0, 0, 0, 0, 0, 27, 5, 82, 0, 0, 45, 50, 45, 0, 180, 20, 13, 0, 7, 0, 7, 27, 0, 0, 0, 0, 15, 0, 0, 0, 0, 5, 235, 178, 0, 0, 25, 0, 0, 0, 0, 51, 0, 18, 0, 210, 0, 0, 0, 0, 0, 18, 9, 0, 0, 0, 0, 0, 0, 0, 42, 169, 42, 0, 0, 206, 0, 0, 0, 0, 0, 48, 0, 0, 0, 45, 120, 0, 60, 0, 0, 15, 15, 5, 0, 0, 5, 0, 8, 0, 0, 235, 0, 0, 0, 0, 0, 0, 159, 0, 0, 48, 48, 0, 0, 0, 226, 5, 5, 5, 0, 5, 9, 0, 0, 0, 34, 0, 68, 0, 0, 0, 152, 0, 183, 0, 0, 56, 0, 0, 5, 9, 0, 102, 0, 0, 10, 0, 30, 0, 0, 0, 112, 234, 0, 0, 5, 0, 0, 12, 2, 0, 0, 14, 0, 19, 5, 0, 14, 38, 0, 155, 9, 0, 3, 0, 0, 0, 0, 251, 0, 0, 0, 0, 0, 0, 0, 185, 0, 0, 0, 69, 0, 0, 0, 0, 0, 227, 0, 24, 0, 0, 2, 0, 0, 51, 86, 0, 0, 0, 0, 107, 10, 11, 18, 0, 41, 0, 36, 0, 0, 25, 122, 199, 0, 0, 0, 0, 0, 0, 0, 11, 44, 13, 0, 7, 0, 94, 0, 0, 94, 33, 13, 0, 0, 7, 0, 0, 247, 0, 0, 0, 0, 0, 219, 26, 9, 0, 0, 0, 0, 0, 0, 0, 8, 16, 64, 0, 5, 0, 29, 99, 32, 0, 20, 0, 0, 0, 0, 0, 39, 195, 0, 0, 18, 0, 0, 4, 0, 0, 233, 0, 0, 0, 0, 0, 0, 200, 0, 0, 18, 0, 36, 0, 229, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 64, 136, 0, 0, 0, 45, 0, 9, 0, 55, 0, 0, 7, 0, 144, 14, 7, 27, 0, 0, 92, 8, 0, 0, 0, 15, 8, 131, 0, 21, 0, 0, 0, 0, 0, 0, 42, 148, 42, 0, 0, 0, 9, 0, 226, 0, 0, 9, 9, 0, 3, 242, 3, 0, 6, 0, 0, 0, 0, 0, 59, 125, 59, 0, 0, 0, 0, 12, 0, 0, 0, 0, 6, 0, 6, 0, 0, 0, 243, 36, 0, 0, 0, 0, 0, 0, 0, 0, 218, 0, 0, 0, 250, 0, 0, 0, 0, 4, 0, 0, 0, 36, 218, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 223, 16, 0, 6, 3, 0, 28, 56, 0, 0, 28, 0, 99, 42, 0, 0, 53, 0, 0, 0, 174, 0, 27, 0, 0, 0, 240, 0, 2, 0, 4, 2, 0, 0, 2, 4, 0, 4, 0, 0, 0, 0, 36, 0, 214, 0, 0, 212, 0, 0, 32, 11, 0, 0, 0, 0, 0, 47, 105, 54, 0, 0, 3, 0, 20, 24, 0, 0, 235, 6, 0, 0, 0, 0, 0, 12, 0, 0, 220, 17, 0, 0, 17, 0, 0, 0, 0, 194, 12, 0, 0, 0, 0, 0, 48, 0, 0, 0, 2, 241, 0, 4, 0, 0, 0, 7, 0, 10, 47, 104, 0, 0, 0, 0, 93, 0, 45, 0, 0, 0, 30, 0, 0, 15, 120, 45, 10, 0, 0, 0, 0, 0, 0, 0, 20, 225, 0, 25, 0, 0, 229, 0, 0, 0, 0, 0, 0, 34, 0, 0, 14, 14, 0, 158, 0, 34, 3, 3, 3, 0, 0, 42, 0, 0, 37, 168, 0, 11, 4, 8, 0, 186, 0, 15, 13, 17, 0, 178, 76, 0, 0, 0, 0, 0, 0, 0, 0, 230, 0, 0, 0, 0, 0, 0, 18, 6, 0, 0, 0, 0, 0, 13, 0, 227, 0, 13, 0, 0, 0, 0, 0, 24, 0, 0, 0, 230, 0, 0, 0, 0, 0, 190, 0, 0, 0, 64, 0, 9, 0, 0, 73, 0, 0, 9, 0, 163, 0, 94, 0, 0, 38, 0, 85, 0, 38, 0, 2, 0, 0, 0, 0, 0, 252, 0, 0, 0, 0, 36, 0, 36, 0, 36, 0, 60, 85, 0, 0, 0, 0, 0, 0, 0, 0, 244, 0, 10, 0, 0, 20, 0, 0, 32, 0, 0, 0, 202, 4, 34, 4, 0, 0, 8, 4, 0, 11, 190, 0, 0, 164, 0, 16, 0, 25, 0, 49, 0, 11, 0, 22, 0, 44, 99, 77, 0, 0, 0, 243, 0, 0, 0, 0, 7, 0, 0, 4, 0, 0, 34, 27, 0, 27, 0, 0, 55, 27, 82, 0, 196, 22, 15, 0, 15, 0, 0, 7, 0, 0, 0, 0, 0, 42, 0, 0, 212, 0, 0, 0, 0, 0, 0, 13, 241, 0, 0, 0, 0, 0, 0, 0, 0, 188, 0, 0, 44, 0, 22, 0, 0, 85, 169, 0, 0, 0, 0, 0, 0, 0, 60, 12, 145, 0, 0, 0, 0, 0, 36, 0, 6, 6, 6, 0, 199, 0, 0, 11, 28, 4, 7, 7, 4, 14, 7, 14, 4, 193, 0, 4, 180, 31, 8, 0, 8, 0, 0, 23, 0, 0, 0, 2, 2, 0, 0, 246, 0, 4, 0, 0, 19, 0, 0, 0, 0, 6, 0, 229, 0, 0, 13, 0, 60, 27, 7, 0, 74, 53, 20, 0, 0, 0, 4, 2, 0, 0, 230, 9, 9, 0, 186, 0, 0, 39, 0, 0, 20, 10, 0, 0, 28, 0, 0, 215, 0, 9, 0, 2, 0, 0, 0, 0, 11, 0, 232, 11, 0, 0, 0, 0, 0, 0, 152, 0, 0, 34, 0, 51, 17, 0, 7, 14, 137, 0, 0, 0, 0, 96, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 0, 60, 0, 0, 75, 90, 0, 39, 0, 195, 0, 0, 0, 0, 0, 20, 3, 0, 0, 0, 0, 0, 251, 0, 0, 0, 0, 0, 0, 24, 0, 230, 0, 0, 0, 0, 0, 21, 0, 0, 233, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 220, 0, 17, 0, 3, 0, 0, 215, 0, 0, 8, 0, 28, 78, 0, 0, 0, 0, 78, 0, 20, 0, 78, 5, 0, 0, 0, 25, 0, 0, 219, 0, 5, 0, 139, 6, 11, 15, 21, 0, 21, 28, 13, 0, 222, 0, 0, 0, 0, 0, 0, 32, 0, 0, 21, 0, 144, 0, 34, 0, 0, 30, 25, 0, 0, 127, 0, 0, 0, 127, 0, 0, 0, 0, 0, 95, 0, 127, 0, 0, 32, 0, 0, 0, 0, 4, 47, 0, 138, 4, 11, 25, 25, 0, 0, 156, 59, 20, 0, 0, 20, 0, 0, 0, 234, 0, 0, 0, 0, 10, 0, 10, 0, 0, 0, 0, 16, 8, 24, 206, 0, 0, 0, 0, 27, 0, 0, 73, 0, 0, 27, 9, 118, 0, 0, 0, 56, 0, 14, 7, 0, 28, 148, 0, 0, 0, 0, 0, 6, 6, 0, 19, 223, 0, 0, 0, 245, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 222, 0, 0, 0, 32, 0, 0, 0, 0, 20, 98, 49, 0, 49, 39, 0, 0, 0, 195, 32, 5, 0, 0, 5, 16, 0, 25, 0, 15, 60, 45, 0, 30, 20, 60, 0, 5, 0, 0, 5, 43, 0, 0, 192, 10, 152, 0, 0, 0, 0, 0, 0, 0, 0, 102, 0, 209, 45, 0, 0, 0, 0, 0, 0, 0, 0, 2, 252, 0, 0, 0, 0, 0, 0, 0, 0, 159, 0, 16, 0, 48, 0, 0, 32, 0, 0, 0, 5, 5, 5, 5, 10, 0, 225, 0, 0, 0, 0, 0, 6, 229, 0, 19, 0, 0, 0, 0, 248, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 159, 0, 95, 0, 0, 205, 0, 0, 20, 0, 0, 0, 0, 29, 3, 0, 0, 7, 0, 158, 46, 0, 3, 36, 248, 0, 0, 0, 4, 2, 0, 0, 0, 0, 0, 0, 0, 5, 8, 11, 222, 0, 5, 3, 0, 0, 0, 0, 227, 0, 0, 27, 0, 0, 0, 0, 0, 0, 0, 228, 9, 18, 0, 0, 40, 0, 0, 0, 186, 0, 0, 0, 23, 6, 0, 234, 6, 0, 0, 3, 0, 0, 8, 3, 33, 0, 25, 0, 0, 0, 0, 0, 0, 197, 12, 0, 0, 6, 6, 30, 0, 0, 6, 194, 0, 0, 0, 68, 0, 0, 0, 0, 0, 186, 0, 25, 146, 0, 0, 0, 0, 0, 83, 0, 0, 25, 0, 165, 0, 0, 0, 0, 64, 0, 0, 156, 33, 0, 8, 41, 16, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 147, 39, 59, 0, 25, 0, 17, 0, 0, 0, 51, 110, 51, 0, 0, 0, 4, 22, 0, 0, 224, 0, 4, 0, 0, 0, 0, 0, 0, 247, 0, 7, 0, 0, 0, 0, 0, 229, 0, 25, 0, 0, 0, 0, 160, 0, 0, 74, 0, 0, 0, 4, 16, 18, 24, 0, 6, 0, 24, 0, 6, 127, 48, 89, 0, 89, 25, 0, 0, 0, 25, 0, 25, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 85, 119, 0, 0, 0, 51, 0, 0, 0, 0, 0, 18, 0, 18, 0, 9, 193, 18, 0, 0, 0, 14, 0, 0, 0, 0, 0, 240, 0, 0, 0, 252, 0, 0, 0, 0, 2, 0, 46, 0, 20, 7, 0, 98, 0, 0, 7, 78, 0, 0, 11, 243, 0, 0, 0, 0, 0, 0, 0, 5, 242, 2, 0, 0, 0, 0, 5, 0, 0, 9, 0, 79, 0, 26, 0, 0, 0, 140, 0, 0, 0, 0, 0, 28, 0, 0, 0, 226, 0, 0, 10, 0, 20, 41, 0, 102, 30, 51, 0, 0, 0, 0, 0, 230, 0, 6, 18, 0, 0, 109, 0, 0, 0, 0, 0, 145, 0, 0, 0, 0, 0, 0, 234, 20, 0, 0, 0, 0, 0, 0, 0, 5, 20, 5, 0, 210, 9, 5, 0, 0, 0, 13, 80, 67, 0, 40, 40, 13, 0, 0, 0, 0, 7, 0, 247, 0, 0, 0, 0, 0, 0, 90, 120, 0, 45, 0, 0, 0, 0, 147, 40, 0, 0, 0, 13, 0, 40, 13, 0, 233, 4, 0, 0, 0, 0, 0, 7, 11, 0, 0, 106, 74, 0, 0, 0, 0, 74, 0, 0, 0, 0, 182, 0, 40, 13, 0, 5, 13, 11, 0, 0, 0, 33, 44, 0, 0, 155, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 243, 0, 0, 0, 8, 0, 2, 0, 2, 0, 0, 20, 20, 0, 20, 73, 10, 0, 5, 107, 0, 0, 30, 0, 0, 0, 224, 0, 0, 0, 0, 0, 157, 0, 0, 60, 24, 0, 12, 0, 0, 28, 28, 56, 0, 0, 0, 0, 42, 99, 0, 0, 12, 0, 0, 0, 0, 0, 242, 0, 4, 9, 0, 0, 241, 0, 0, 0, 0, 0, 0, 42, 0, 0, 0, 85, 0, 0, 127, 0, 0, 0, 14, 0, 0, 42, 0, 28, 169, 0, 0, 239, 0, 0, 0, 0, 0, 0, 7, 7, 0, 40, 0, 0, 214, 0, 0, 0, 0, 0, 0, 20, 0, 20, 10, 186, 0, 0, 10, 10, 0, 0, 0, 0, 14, 0, 0, 0, 240, 0, 0, 0, 15, 0, 0, 60, 0, 0, 0, 179, 0, 0, 0, 0, 222, 0, 32, 0, 0, 0, 0, 0, 8, 8, 0, 12, 212, 0, 8, 4, 0, 249, 0, 0, 0, 0, 0, 0, 5, 0, 4, 4, 8, 12, 0, 0, 0, 0, 227, 0, 21, 21, 0, 0, 74, 32, 95, 0, 11, 0, 0, 140, 0, 0, 0, 0, 0, 13, 102, 0, 0, 23, 0, 0, 0, 0, 231, 0, 0, 0, 0, 0, 0, 44, 11, 121, 0, 11, 55, 11, 11, 5, 0, 0, 108, 27, 0, 54, 11, 38, 0, 121, 0, 29, 0, 0, 29, 0, 40, 35, 0, 32, 190, 21, 0, 0, 0, 0, 0, 11, 0, 0, 0, 19, 0, 189, 0, 4, 15, 27, 0, 0, 0, 23, 0, 0, 0, 81, 46, 104, 0, 2, 0, 5, 228, 0, 12, 0, 7, 0, 0, 0, 0, 0, 20, 0, 0, 98, 0, 137, 4, 2, 0, 2, 0, 0, 0, 242, 0, 4, 0, 13, 0, 13, 0, 53, 0, 0, 0, 174, 0, 0, 0, 54, 109, 18, 0, 18, 54, 0, 0, 54, 109, 0, 73, 0, 18, 0, 0, 0, 0, 8, 0, 0, 4, 0, 225, 0, 16, 0, 0, 0, 91, 0, 0, 127, 0, 36, 0, 0, 0, 0, 145, 0, 0, 0, 109, 0, 0, 0, 251, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 184, 32, 0, 6, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 46, 0, 0, 208, 0, 0, 0, 29, 206, 0, 0, 0, 0, 3, 16, 0, 0, 0, 30, 0, 41, 0, 0, 65, 118, 0, 3, 13, 26, 3, 119, 0, 49, 16, 23, 0, 0, 239, 10, 0, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 38, 21, 0, 0, 190, 194, 0, 0, 0, 0, 60, 0, 0, 0, 0, 239, 0, 0, 0, 2, 6, 4, 0, 0, 4, 0, 0, 51, 0, 76, 0, 0, 0, 51, 76, 0, 0, 0, 0, 246, 0, 4, 0, 4, 0, 36, 0, 0, 0, 36, 0, 0, 73, 36, 73, 0, 64, 0, 0, 114, 0, 0, 51, 0, 25, 0, 0, 20, 0, 27, 0, 7, 0, 201, 0, 9, 30, 4, 0, 0, 47, 0, 0, 121, 43, 0, 0, 0, 0, 210, 0, 35, 0, 9, 0, 0, 234, 0, 3, 0, 0, 0, 0, 18, 0, 0, 88, 0, 44, 0, 77, 0, 0, 22, 22, 0, 0, 0, 0, 0, 5, 249, 0, 0, 0, 0, 0, 20, 205, 12, 9, 0, 0, 3, 6, 0, 218, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 30, 0, 0, 0, 0, 35, 183, 0, 0, 36, 0, 0, 218, 0, 0, 0, 0, 0, 0, 13, 13, 0, 0, 147, 0, 80, 0, 0, 0, 70, 0, 0, 0, 88, 0, 96, 0, 0, 0, 0, 76, 5, 146, 0, 0, 27, 0, 0, 0, 25, 25, 17, 34, 0, 42, 8, 102, 0, 14, 5, 62, 0, 0, 0, 0, 153, 19, 0, 0, 0, 0, 0, 13, 13, 0, 0, 229, 0, 64, 0, 190, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 21, 0, 0, 227, 0, 6, 0, 0, 28, 14, 0, 127, 0, 42, 28, 14, 0, 20, 0, 176, 0, 0, 0, 0, 59, 0, 0, 0, 17, 0, 0, 138, 0, 88, 6, 6, 0, 3, 0, 8, 8, 3, 0, 201, 13, 19, 0, 0, 0, 0, 0, 23, 231, 0, 0, 0, 0, 190, 0, 0, 16, 16, 0, 32, 0, 0, 0, 12, 4, 0, 217, 12, 2, 6, 0, 0, 25, 0, 0, 0, 51, 42, 8, 127, 0, 0, 6, 0, 0, 0, 0, 0, 248, 0, 0, 0, 127, 0, 0, 51, 0, 51, 25, 0, 0, 0, 0, 20, 13, 3, 0, 5, 15, 8, 191, 0, 0, 0, 4, 25, 0, 25, 0, 0, 4, 197, 0, 30, 0, 0, 0, 10, 0, 0, 0, 213, 48, 6, 18, 48, 0, 36, 12, 24, 36, 24, 0, 0, 0, 0, 0, 234, 0, 0, 0, 20, 0, 20, 0, 0, 0, 0, 0, 156, 78, 0, 0, 0, 6, 0, 0, 0, 248, 0, 0, 0, 0, 30, 0, 10, 51, 0, 142, 20, 0, 0, 73, 45, 0, 0, 0, 0, 64, 27, 45, 0, 0, 0, 0, 0, 221, 0, 33, 0, 0, 0, 0, 25, 167, 12, 0, 0, 0, 0, 31, 19, 0, 0, 102, 0, 0, 0, 25, 127, 0, 0, 0, 222, 9, 9, 6, 0, 0, 3, 6, 0, 0, 0, 0, 0, 0, 198, 0, 0, 0, 56, 0, 3, 240, 0, 0, 0, 0, 0, 3, 7, 0, 0, 0, 0, 71, 152, 30, 0, 0, 0, 25, 0, 0, 0, 38, 0, 190, 0, 0, 0, 0, 0, 25, 229, 0, 0, 0, 0, 0, 0, 0, 80, 0, 0, 0, 40, 0, 0, 0, 134, 0, 2, 2, 235, 0, 0, 0, 0, 11, 4, 0, 67, 0, 40, 0, 27, 0, 0, 94, 27, 0, 0, 0, 5, 0, 55, 0, 0, 0, 194, 0, 5, 0, 12, 0, 0, 0, 237, 0, 0, 0, 3, 0, 0, 231, 0, 3, 0, 16, 0, 0, 0, 18, 18, 0, 53, 35, 0, 44, 88, 0, 2, 0, 0, 0, 0, 244, 0, 5, 2, 0, 0, 0, 0, 169, 0, 85, 0, 0, 0, 235, 0, 8, 0, 0, 3, 2, 0, 3, 2, 0, 192, 3, 3, 21, 5, 0, 5, 21, 5, 0, 2, 235, 4, 0, 0, 5, 5, 0, 4, 0, 24, 32, 0, 0, 0, 32, 0, 167, 0, 0, 73, 0, 73, 0, 0, 0, 0, 0, 109, 0, 169, 0, 0, 85, 0, 0, 0, 0, 0, 0, 0, 40, 66, 0, 0, 0, 18, 125, 4, 0, 236, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0, 0, 27, 0, 94, 0, 53, 67, 13, 0, 9, 0, 0, 0, 242, 3, 0, 0, 0, 0, 50, 25, 6, 6, 62, 0, 0, 74, 31, 0, 0, 0, 0, 0, 0, 0, 176, 78, 0, 0, 0, 0, 0, 10, 30, 0, 0, 0, 213, 0, 0, 0, 0, 38, 13, 203, 0, 0, 0, 0, 0, 0, 0, 0, 0, 46, 0, 0, 208, 0, 245, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 195, 39, 0, 0, 0, 0, 20, 0, 11, 11, 0, 0, 0, 32, 0, 201, 0, 0, 0, 0, 0, 0, 18, 61, 0, 26, 0, 149, 0, 14, 0, 0, 9, 0, 5, 0, 218, 9, 0, 13, 0, 0, 147, 0, 67, 0, 0, 27, 0, 12, 3, 239, 0, 0, 0, 0, 0, 0, 0, 184, 0, 0, 26, 0, 0, 0, 0, 44, 0, 35, 96, 0, 0, 0, 18, 0, 105, 0, 2, 9, 0, 0, 229, 0, 2, 11, 0, 0, 8, 0, 16, 0, 41, 25, 25, 115, 25, 0, 0, 229, 0, 0, 11, 0, 0, 11, 3, 0, 196, 23, 0, 0, 0, 0, 0, 0, 35, 0, 17, 42, 0, 0, 110, 0, 0, 76, 0, 8, 0, 0, 0, 44, 0, 66, 0, 55, 44, 44, 2, 0, 5, 5, 9, 0, 0, 197, 23, 14, 0, 0, 0, 0, 0, 4, 243, 0, 6, 0, 0, 2, 5, 213, 0, 0, 0, 0, 2, 33, 0, 17, 0, 17, 0, 196, 14, 0, 0, 10, 251, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 54, 0, 145, 18, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 8, 0, 246, 9, 0, 3, 21, 6, 9, 0, 6, 15, 184, 245, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 36, 0, 0, 218, 0, 201, 40, 0, 0, 0, 0, 0, 0, 0, 13, 0, 97, 109, 0, 0, 0, 48, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 222, 16, 169, 85, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42, 14, 85, 28, 85, 0, 0, 0, 0, 0, 0, 0, 248, 6, 0, 0, 0, 0, 0, 242, 6, 0, 0, 0, 0, 6, 0, 0, 0, 7, 27, 0, 14, 34, 48, 124, 0, 0, 206, 16, 0, 0, 0, 0, 0, 32, 0, 0, 6, 0, 0, 0, 0, 0, 0, 248, 0, 245, 0, 5, 0, 0, 0, 5, 0, 0, 0, 0, 6, 9, 3, 0, 0, 237, 0, 0, 0, 0, 82, 60, 0, 0, 7, 82, 0, 0, 22, 0, 0, 251, 3, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 190, 0, 7, 0, 0, 0, 167, 22, 58, 0, 0, 0, 0, 0, 34, 17, 0, 51, 0, 17, 135, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0, 214, 228, 0, 0, 0, 13, 7, 7, 0, 0, 0, 0, 6, 0, 0, 3, 0, 0, 245, 0, 0, 0, 5, 0, 0, 234, 0, 0, 5, 0, 10, 0, 52, 0, 13, 13, 39, 7, 0, 130, 0, 0, 209, 0, 0, 0, 45, 0, 0, 0, 0, 0, 41, 41, 0, 0, 0, 0, 0, 172, 0, 0, 0, 213, 30, 0, 0, 0, 0, 10, 0, 0, 0, 0, 142, 0, 6, 0, 35, 12, 59, 119, 0, 51, 0, 51, 0, 0, 0, 34, 0, 0, 4, 0, 0, 0, 0, 4, 4, 236, 7, 0, 3, 0, 0, 0, 244, 0, 7, 0, 0, 0, 0, 0, 85, 0, 169, 0, 0, 0, 0, 0, 0, 0, 0, 0, 208, 0, 0, 23, 23, 11, 0, 0, 0, 0, 0, 238, 0, 5, 0, 0, 0, 51, 0, 0, 0, 0, 0, 0, 203, 0, 2, 0, 233, 0, 4, 0, 0, 4, 10, 0, 209, 10, 17, 0, 5, 0, 0, 10, 2, 0, 95, 32, 127, 0, 0, 0, 0, 0, 0, 0, 7, 0, 5, 0, 7, 0, 0, 7, 227, 0, 35, 0, 0, 7, 14, 0, 0, 64, 134, 0, 0, 0, 0, 46, 0, 0, 208, 0, 0, 0, 190, 0, 0, 16, 32, 0, 16, 0, 0, 0, 0, 0, 0, 209, 15, 18, 12, 0, 0, 29, 5, 0, 0, 151, 5, 0, 59, 5, 0, 0, 23, 0, 0, 4, 0, 0, 206, 0, 21, 0, 25, 198, 0, 0, 0, 9, 0, 22, 0, 0, 0, 0, 16, 0, 190, 0, 0, 32, 16, 0, 145, 0, 0, 109, 0, 0, 0, 0, 0, 247, 4, 0, 2, 2, 0, 0, 0, 0, 0, 19, 11, 0, 0, 0, 11, 197, 8, 8, 0, 0, 186, 0, 0, 0, 17, 0, 0, 51, 0, 7, 76, 21, 7, 0, 14, 0, 21, 55, 55, 0, 163, 0, 61, 0, 0, 20, 0, 10, 0, 0, 0, 0, 9, 0, 198, 0, 0, 47, 0, 0, 8, 0, 0, 0, 0, 229, 8, 0, 8, 0, 0, 0, 182, 0, 55, 0, 0, 13, 4, 73, 0, 0, 0, 0, 0, 0, 0, 0, 181, 0, 0, 0, 0, 244, 0, 10, 0, 0, 0, 28, 28, 0, 0, 0, 134, 64, 0, 0, 0, 0, 5, 0, 0, 0, 206, 0, 0, 5, 38, 120, 0, 0, 0, 27, 0, 0, 0, 107, 0, 0, 0, 0, 251, 0, 0, 0, 0, 0, 3, 0, 30, 102, 91, 10, 0, 20, 0, 0, 0, 0, 231, 0, 0, 0, 23, 0, 0, 0, 0, 0, 19, 0, 19, 19, 0, 0, 47, 122, 28, 0, 164, 0, 7, 0, 0, 0, 0, 82, 0, 0, 18, 0, 54, 0, 0, 145, 0, 36, 0, 0, 14, 7, 85, 0, 49, 0, 0, 56, 42, 0, 0, 28, 8, 0, 0, 4, 0, 206, 8, 0, 0, 0, 54, 0, 0, 0, 0, 200, 0, 0, 203, 0, 0, 0, 0, 0, 0, 0, 51, 0, 0, 0, 0, 0, 3, 0, 0, 3, 248, 0, 27, 0, 0, 154, 0, 0, 73, 0, 0, 0, 9, 0, 0, 4, 17, 0, 199, 11, 13, 0, 29, 0, 2, 25, 0, 194, 0, 4, 0, 228, 0, 4, 0, 0, 4, 0, 0, 0, 17, 0, 5, 0, 5, 0, 239, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 149, 105, 21, 0, 17, 7, 0, 48, 21, 0, 14, 127, 23, 69, 0, 0, 108, 15, 8, 8, 23, 0, 0, 10, 0, 10, 0, 202, 0, 0, 23, 10, 0, 0, 219, 35, 0, 0, 0, 0, 0, 0, 0, 0, 3, 243, 0, 0, 0, 0, 6, 3, 0, 0, 16, 181, 0, 0, 0, 0, 16, 41, 38, 0, 0, 0, 0, 0, 0, 0, 0, 216, 0, 0, 240, 0, 0, 0, 7, 0, 7, 0, 0, 0, 42, 0, 0, 0, 0, 0, 212, 0, 0, 143, 16, 0, 32, 8, 40, 0, 16, 0, 0, 0, 0, 0, 215, 0, 0, 0, 0, 39, 0, 181, 24, 0, 0, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, 0, 203, 0, 51, 200, 0, 0, 0, 54, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 95, 0, 127, 16, 0, 0, 0, 0, 0, 249, 5, 0, 0, 0, 0, 0, 28, 0, 226, 0, 0, 0, 0, 0, 0, 0, 107, 0, 13, 0, 0, 0, 0, 0, 134, 0, 0, 0, 0, 0, 0, 13, 0, 190, 51, 0, 199, 28, 3, 0, 0, 0, 0, 12, 12, 0, 0, 0, 12, 0, 6, 213, 0, 24, 0, 0, 0, 6, 0, 0, 0, 6, 0, 242, 0, 0, 0, 0, 64, 0, 32, 32, 0, 127, 0, 0, 59, 0, 0, 156, 0, 20, 20, 0, 0, 22, 0, 15, 37, 37, 75, 0, 30, 0, 37, 0, 4, 0, 0, 4, 234, 12, 0, 0, 0, 38, 0, 13, 0, 28, 107, 19, 0, 47, 3, 16, 4, 0, 4, 0, 8, 208, 0, 14, 0, 92, 46, 0, 0, 0, 0, 0, 0, 115, 0, 0, 0, 15, 130, 0, 0, 0, 0, 90, 19, 0, 10, 0, 44, 25, 21, 0, 42, 92, 19, 0, 187, 10, 4, 12, 10, 0, 4, 28, 0, 8, 127, 32, 24, 0, 0, 0, 0, 0, 64, 0, 21, 225, 0, 0, 0, 8, 0, 0, 0, 28, 19, 0, 0, 38, 0, 0, 28, 0, 141, 0, 0, 0, 0, 9, 0, 0, 245, 0, 0, 21, 11, 0, 0, 0, 85, 0, 0, 64, 74, 0, 0, 245, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 21, 0, 233, 0, 0, 0, 18, 228, 0, 0, 0, 0, 0, 9, 0, 64, 0, 0, 0, 0, 0, 0, 0, 190, 42, 0, 0, 0, 0, 42, 21, 0, 0, 148, 0, 0, 0, 227, 0, 18, 9, 0, 0, 0, 7, 0, 0, 15, 0, 19, 0, 0, 0, 213, 0, 0, 64, 0, 0, 0, 0, 159, 0, 32, 27, 73, 0, 0, 18, 45, 0, 0, 0, 91, 245, 0, 7, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 92, 69, 0, 23, 15, 54, 0, 0, 0, 0, 0, 0, 0, 221, 25, 8, 0, 0, 0, 0, 25, 25, 0, 0, 25, 178, 8, 0, 15, 0, 15, 162, 0, 46, 0, 8, 0, 46, 0, 23, 0, 0, 185, 0, 0, 0, 0, 195, 0, 0, 0, 0, 59, 0, 0, 0, 0, 10, 5, 5, 0, 10, 219, 0, 5, 0, 0, 154, 7, 0, 27, 0, 3, 33, 17, 13, 0, 12, 234, 3, 0, 0, 0, 6, 0, 0, 0, 111, 16, 8, 0, 87, 0, 0, 32, 0, 0, 0, 0, 0, 11, 193, 50, 0, 0, 0, 73, 0, 0, 7, 15, 0, 0, 65, 58, 36, 0, 0, 196, 0, 0, 29, 0, 0, 0, 29, 0, 10, 0, 7, 0, 10, 0, 0, 7, 221, 7, 0, 7, 26, 0, 0, 0, 0, 65, 150, 0, 0, 190, 42, 0, 0, 0, 0, 21, 0, 0, 0, 0, 0, 181, 0, 0, 36, 0, 36, 0, 7, 0, 2, 0, 9, 0, 232, 2, 2, 5, 29, 0, 0, 215, 0, 3, 0, 3, 0, 0, 227, 0, 0, 0, 9, 0, 0, 18, 0, 0, 0, 0, 233, 0, 4, 0, 0, 14, 4, 0, 0, 93, 31, 0, 16, 0, 0, 114, 0, 0, 0, 0, 228, 0, 0, 0, 0, 0, 26, 0, 0, 0, 13, 13, 175, 26, 0, 4, 22, 0, 0, 3, 29, 0, 0, 0, 0, 219, 3, 18, 0, 0, 44, 0, 44, 0, 96, 35, 18, 8, 51, 0, 0, 17, 0, 8, 0, 169, 0, 0, 234, 0, 0, 0, 0, 0, 0, 20, 0, 238, 0, 0, 0, 0, 0, 16, 0, 0, 0, 114, 0, 0, 0, 0, 0, 140, 0, 0, 0, 0, 0, 0, 32, 0, 95, 0, 16, 32, 79, 0, 0, 0, 21, 0, 233, 0, 0, 0, 0, 0, 0, 2, 0, 2, 2, 248, 0, 0, 0, 230, 0, 0, 0, 9, 0, 0, 0, 0, 14, 3, 85, 16, 0, 22, 3, 41, 0, 78, 6, 0, 211, 0, 0, 0, 6, 2, 0, 28, 6, 0, 45, 0, 0, 134, 0, 15, 0, 0, 60, 0, 0, 0, 0, 0, 159, 48, 0, 32, 16, 2, 0, 12, 200, 0, 10, 0, 0, 10, 20, 0, 0, 0, 0, 0, 0, 0, 0, 33, 221, 212, 0, 0, 0, 0, 34, 0, 0, 0, 8, 247, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 42, 21, 169, 21, 0, 0, 0, 0, 0, 7, 49, 14, 0, 14, 85, 85, 9, 66, 9, 38, 0, 28, 0, 0, 19, 85, 0, 5, 24, 17, 8, 10, 2, 152, 34, 2, 17, 0, 0, 0, 211, 9, 0, 9, 0, 9, 16, 0, 0, 0, 0, 25, 0, 0, 8, 205, 0, 4, 20, 0, 8, 217, 4, 0, 0, 0, 0, 51, 68, 0, 0, 0, 0, 17, 59, 59, 157, 5, 5, 0, 5, 16, 0, 0, 5, 59, 0, 0, 229, 8, 4, 0, 0, 0, 0, 13, 0, 0, 6, 25, 0, 0, 0, 19, 159, 44, 0, 0, 59, 20, 0, 0, 0, 176, 0, 0, 0, 13, 190, 38, 0, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 14, 0, 0, 65, 142, 0, 0, 0, 12, 24, 12, 0, 0, 0, 0, 0, 0, 0, 222, 0, 32, 0, 0, 0, 0, 18, 219, 18, 0, 0, 0, 8, 0, 0, 12, 0, 0, 235, 0, 0, 0, 252, 2, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 11, 0, 188, 0, 0, 44, 0, 0, 0, 12, 6, 3, 12, 9, 0, 207, 6, 0, 115, 0, 0, 0, 0, 0, 0, 46, 92, 0, 0, 0, 0, 0, 0, 42, 0, 0, 212, 0, 0, 0, 2, 224, 0, 0, 0, 0, 0, 27, 0, 0, 0, 30, 0, 185, 26, 0, 4, 9, 36, 0, 0, 163, 0, 0, 0, 0, 0, 54, 9, 0, 2, 7, 0, 2, 0, 0, 17, 217, 0, 0, 0, 21, 11, 0, 222, 0, 0, 0, 0, 78, 0, 20, 20, 0, 0, 137, 0, 0, 0, 0, 0, 0, 0, 27, 0, 147, 27, 53, 0, 0, 21, 0, 0, 176, 0, 28, 0, 28, 0, 13, 0, 64, 0, 13, 0, 0, 0, 165, 0, 26, 0, 0, 0, 0, 9, 210, 0, 9, 0, 0, 0, 222, 0, 0, 0, 32, 0, 0, 0, 0, 27, 0, 34, 0, 34, 0, 158, 0, 0, 218, 0, 0, 12, 0, 0, 0, 24, 0, 0, 30, 10, 30, 30, 30, 0, 61, 20, 41, 0, 236, 2, 0, 7, 2, 0, 0, 0, 7, 0, 39, 137, 0, 0, 39, 39, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 239, 0, 0, 98, 98, 8, 0, 16, 25, 0, 8, 0, 0, 23, 0, 0, 0, 0, 0, 0, 231, 0, 0, 0, 0, 0, 241, 3, 0, 10, 0, 0, 0, 0, 0, 0, 42, 0, 212, 0, 0, 0, 13, 0, 0, 4, 0, 232, 0, 0, 4, 0, 48, 0, 0, 36, 0, 24, 0, 73, 0, 73, 0, 0, 249, 0, 0, 0, 0, 0, 5, 0, 0, 0, 64, 18, 0, 45, 54, 0, 73, 0, 0, 0, 0, 5, 0, 168, 0, 23, 54, 5, 0, 180, 0, 0, 7, 2, 0, 0, 56, 9, 7, 0, 21, 35, 21, 28, 0, 0, 85, 56, 237, 0, 0, 0, 0, 0, 6, 0, 11, 0, 0, 0, 0, 245, 0, 0, 0, 0, 0, 9, 0, 0, 0, 17, 0, 15, 0, 0, 0, 221, 0, 169, 71, 14, 0, 0, 0, 0, 0, 0, 0, 167, 35, 23, 0, 17, 0, 12, 0, 0, 0, 13, 0, 0, 6, 0, 235, 0, 0, 0, 4, 8, 0, 0, 28, 7, 0, 193, 3, 11, 53, 18, 9, 53, 0, 96, 0, 18, 9, 0, 13, 0, 0, 0, 216, 13, 13, 0, 0, 0, 0, 32, 0, 0, 0, 222, 0, 0, 0, 0, 0, 0, 0, 0, 0, 56, 198, 0, 0, 0, 0, 21, 0, 233, 0, 0, 0, 0, 0, 0, 0, 21, 35, 99, 35, 0, 0, 0, 49, 14, 7, 18, 11, 0, 7, 0, 0, 0, 197, 14, 56, 0, 0, 0, 0, 0, 0, 0, 85, 113, 0, 169, 56, 28, 0, 0, 0, 0, 0, 0, 0, 141, 56, 0, 0, 56, 0, 0, 0, 0, 60, 12, 0, 36, 0, 0, 0, 97, 0, 48, 3, 0, 0, 0, 248, 0, 0, 3, 0, 0, 0, 0, 0, 224, 0, 30, 0, 0, 0, 0, 0, 0, 0, 5, 0, 230, 5, 0, 0, 15, 3, 0, 0, 6, 0, 0, 0, 245, 0, 0, 0, 85, 12, 91, 0, 30, 0, 18, 18, 0, 0, 26, 26, 18, 0, 0, 0, 0, 184, 0, 109, 0, 0, 0, 0, 36, 0, 0, 0, 109, 241, 0, 0, 0, 0, 4, 2, 0, 2, 4, 0, 6, 3, 0, 0, 237, 3, 0, 6, 0, 0, 7, 7, 0, 80, 17, 0, 115, 14, 14, 0, 111, 0, 0, 13, 0, 0, 33, 0, 98, 15, 51, 7, 22, 123, 0, 0, 7, 22, 7, 0, 216, 0, 0, 14, 0, 0, 0, 14, 10, 7, 0, 0, 0, 0, 0, 224, 0, 22, 0, 0, 0, 0, 0, 0, 221, 0, 0, 22, 11, 18, 0, 0, 0, 0, 9, 9, 45, 0, 172, 220, 0, 0, 0, 17, 0, 17, 0, 0, 0, 0, 0, 0, 0, 18, 0, 109, 0, 109, 18, 20, 20, 26, 26, 0, 7, 0, 0, 111, 46, 0, 0, 0, 0, 0, 6, 0, 0, 11, 237, 0, 10, 14, 10, 0, 24, 0, 14, 178, 3, 0, 46, 0, 0, 0, 0, 0, 0, 185, 23, 0, 235, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 64, 127, 0, 0, 0, 0, 0, 64, 0, 4, 233, 0, 0, 0, 0, 0, 0, 17, 0, 5, 5, 214, 0, 0, 2, 0, 12, 15, 0, 18, 200, 18, 0, 0, 0, 0, 18, 0, 0, 138, 11, 0, 64, 0, 42, 0, 0, 0, 0, 0, 0, 28, 0, 198, 14, 14, 0, 0, 0, 16, 0, 0, 8, 0, 230, 0, 0, 0, 3, 70, 0, 0, 73, 42, 12, 51, 3, 0, 0, 0, 0, 0, 0, 0, 0, 127, 0, 127, 0, 0, 64, 114, 0, 0, 0, 13, 38, 25, 0, 14, 15, 179, 0, 0, 0, 5, 36, 5, 0, 4, 7, 19, 0, 187, 0, 0, 19, 19, 9, 12, 0, 0, 3, 0, 223, 3, 3, 0, 16, 8, 0, 0, 40, 24, 32, 127, 8, 0, 203, 0, 0, 0, 20, 30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 208, 0, 8, 38, 0, 0, 232, 0, 0, 0, 0, 22, 0, 0, 0, 0, 38, 3, 0, 0, 3, 3, 24, 175, 7, 0, 22, 22, 11, 5, 32, 0, 32, 38, 92, 0, 26, 0, 0, 0, 195, 0, 0, 0, 33, 0, 15, 0, 0, 0, 0, 239, 0, 0, 0, 0, 95, 64, 0, 0, 0, 0, 95, 0, 0, 0, 0, 0, 0, 251, 0, 0, 3, 0, 0, 0, 0, 0, 0, 38, 169, 0, 0, 0, 47, 207, 0, 0, 0, 0, 9, 19, 0, 19, 0, 0, 106, 0, 21, 64, 21, 0, 42, 0, 0, 0, 0, 0, 0, 14, 71, 127, 0, 28, 14, 21, 11, 0, 0, 11, 0, 0, 0, 190, 21, 0, 141, 0, 0, 0, 42, 0, 0, 0, 71, 0, 31, 38, 15, 0, 0, 0, 169, 0, 0, 0, 6, 219, 17, 0, 0, 0, 0, 12, 0, 0, 236, 0, 9, 0, 0, 0, 0, 9, 0, 0, 25, 0, 76, 0, 0, 0, 0, 152, 0, 0, 21, 0, 0, 190, 42, 0, 0, 0, 0, 143, 0, 16, 0, 0, 0, 16, 32, 32, 16, 0, 0, 0, 0, 221, 0, 0, 33, 0, 0, 252, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 209, 0, 18, 0, 12, 19, 12, 42, 27, 0, 12, 46, 85, 45, 73, 0, 0, 18, 0, 54, 0, 45, 18, 0, 0, 40, 7, 0, 33, 0, 154, 20, 0, 0, 0, 0, 113, 0, 28, 113, 0, 0, 0, 45, 0, 0, 0, 0, 30, 45, 0, 105, 30, 0, 11, 0, 0, 85, 0, 0, 159, 0, 0, 0, 0, 30, 0, 0, 10, 5, 0, 204, 5, 0, 0, 0, 141, 0, 0, 85, 28, 0, 0, 0, 219, 15, 0, 0, 0, 4, 0, 15, 0, 0, 0, 0, 22, 0, 3, 222, 0, 0, 6, 0, 12, 0, 18, 41, 30, 53, 59, 30, 12, 0, 7, 0, 0, 0, 244, 0, 3, 0, 0, 0, 48, 0, 64, 16, 16, 0, 0, 95, 16, 190, 0, 0, 32, 0, 0, 0, 0, 0, 32, 0, 29, 225, 0, 0, 0, 0, 0, 0, 0, 0, 151, 47, 0, 0, 0, 38, 0, 19, 0, 0, 24, 121, 0, 12, 0, 0, 36, 48, 12, 5, 14, 0, 14, 23, 9, 162, 0, 28, 0, 0, 0, 0, 0, 0, 27, 9, 0, 172, 45, 0, 215, 10, 0, 0, 10, 0, 0, 20, 0, 0, 14, 7, 21, 0, 192, 0, 0, 14, 7, 0, 0, 0, 0, 0, 243, 0, 0, 11, 0, 0, 0, 3, 205, 0, 18, 0, 3, 0, 26, 0, 51, 25, 0, 0, 0, 0, 0, 0, 178, 34, 0, 0, 0, 0, 68, 0, 0, 85, 68, 0, 0, 33, 0, 221, 0, 0, 0, 0, 0, 0, 218, 27, 0, 0, 0, 9, 0, 0, 0, 0, 0, 231, 3, 0, 0, 0, 0, 20, 0, 5, 33, 0, 0, 19, 179, 0, 5, 14, 0, 0, 23, 0, 0, 231, 0, 0, 0, 0, 0, 0, 0, 0, 45, 7, 97, 0, 22, 82, 0, 0, 0, 0, 9, 2, 0, 0, 235, 2, 6, 0, 160, 0, 0, 13, 7, 0, 13, 60, 0, 0, 0, 0, 0, 0, 231, 0, 0, 0, 23, 13, 0, 0, 0, 51, 0, 190, 0, 0, 0, 0, 115, 49, 0, 0, 0, 16, 0, 74, 0, 8, 2, 0, 0, 4, 0, 225, 0, 14, 0, 0, 123, 0, 0, 57, 25, 33, 0, 16, 0, 0, 0, 56, 141, 0, 56, 0, 0, 0, 0, 250, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 25, 0, 6, 0, 6, 0, 0, 19, 197, 4, 0, 8, 72, 0, 95, 0, 0, 45, 30, 0, 0, 27, 170, 0, 42, 0, 0, 6, 8, 0, 32, 0, 0, 222, 0, 0, 0, 0, 0, 76, 7, 0, 0, 27, 21, 0, 62, 7, 55, 15, 5, 0, 0, 209, 0, 0, 15, 10, 0, 0, 6, 6, 0, 0, 0, 6, 0, 237, 0, 0, 138, 42, 0, 0, 0, 0, 0, 74, 0, 0, 227, 3, 17, 0, 3, 0, 0, 0, 3, 0, 0, 0, 7, 22, 22, 0, 0, 0, 203, 0, 46, 0, 0, 0, 208, 0, 0, 0, 0, 34, 0, 0, 41, 0, 130, 0, 0, 0, 48, 0, 0, 0, 0, 0, 9, 0, 0, 0, 245, 0, 6, 0, 9, 0, 0, 0, 239, 0, 0, 4, 0, 0, 0, 4, 0, 226, 0, 19, 0, 169, 0, 0, 0, 0, 0, 64, 0, 21, 0, 230, 0, 0, 7, 0, 5, 9, 2, 0, 0, 0, 139, 0, 12, 0, 35, 0, 0, 0, 69, 0, 0, 0, 0, 225, 0, 17, 0, 12, 0, 51, 68, 0, 0, 0, 17, 85, 0, 34, 0, 0, 0, 15, 0, 7, 194, 0, 7, 30, 0, 7, 7, 0, 0, 206, 0, 27, 0, 7, 0, 0, 244, 0, 0, 5, 0, 0, 0, 5, 0, 0, 134, 56, 0, 0, 49, 7, 0, 7, 0, 0, 12, 18, 41, 0, 124, 6, 6, 21, 27, 0, 0, 2, 209, 0, 0, 0, 0, 9, 33, 127, 0, 127, 0, 0, 0, 0, 0, 0, 0, 8, 16, 12, 0, 4, 0, 0, 0, 215, 0, 0, 46, 12, 81, 0, 29, 0, 0, 0, 87, 59, 20, 0, 0, 0, 20, 0, 20, 137, 0, 0, 0, 0, 0, 12, 235, 0, 0, 6, 0, 0, 7, 7, 0, 7, 14, 0, 169, 28, 21, 0, 0, 0, 0, 0, 159, 0, 64, 0, 32, 0, 2, 0, 12, 6, 8, 0, 12, 0, 212, 102, 0, 0, 25, 0, 0, 51, 76, 0, 0, 0, 0, 227, 7, 0, 0, 0, 13, 7, 0, 0, 3, 212, 0, 0, 0, 0, 3, 37, 0, 0, 222, 0, 0, 16, 0, 0, 0, 16, 0, 0, 0, 127, 18, 0, 0, 0, 36, 73, 0, 30, 0, 0, 20, 0, 20, 152, 0, 0, 30, 0, 0, 0, 9, 7, 237, 0, 2, 0, 0, 0, 0, 240, 0, 0, 14, 0, 0, 0, 0, 0, 39, 0, 20, 0, 39, 0, 0, 137, 20, 0, 207, 5, 5, 0, 21, 10, 0, 0, 5, 0, 17, 77, 6, 0, 0, 0, 0, 144, 11, 0, 1, 1, 0, 3, 3, 245, 0, 0, 0, 0, 0, 0, 0, 192, 19, 43, 0, 0, 0, 18, 0, 5, 10, 0, 3, 0, 3, 0, 216, 0, 66, 0, 0, 0, 0, 0, 55, 0, 133, 0, 0, 5, 14, 0, 5, 0, 222, 0, 9, 0, 12, 6, 0, 0, 0, 0, 41, 142, 53, 0, 8, 213, 0, 0, 33, 0, 0, 0, 0, 0, 7, 0, 37, 67, 90, 7, 37, 7, 0, 0, 0, 0, 12, 0, 0, 0, 242, 0, 0, 0, 229, 0, 0, 20, 0, 0, 0, 5, 0, 0, 23, 23, 0, 0, 0, 0, 62, 123, 23, 0, 0, 69, 162, 0, 0, 0, 23, 0, 0, 4, 11, 19, 11, 4, 4, 0, 11, 176, 15, 73, 30, 0, 12, 6, 42, 12, 60, 18, 0, 0, 41, 74, 16, 0, 0, 0, 0, 98, 25, 0, 0, 241, 9, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 21, 0, 0, 233, 0, 0, 0, 23, 0, 23, 0, 0, 0, 23, 23, 162, 0, 42, 0, 42, 0, 56, 0, 0, 0, 113, 0, 0, 3, 246, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 241, 0, 0, 4, 8, 0, 23, 0, 0, 4, 0, 38, 0, 0, 0, 190, 230, 0, 0, 0, 0, 15, 0, 0, 0, 9, 21, 0, 85, 0, 0, 0, 0, 0, 148, 0, 0, 75, 0, 75, 0, 0, 0, 0, 105, 0, 0, 6, 16, 223, 0, 0, 0, 0, 4, 4, 0, 42, 0, 21, 12, 50, 42, 8, 33, 46, 0, 0, 0, 0, 0, 195, 0, 0, 59, 0, 0, 0, 0, 0, 246, 0, 0, 8, 0, 0, 0, 0, 48, 0, 0, 0, 159, 0, 48, 0, 22, 146, 0, 13, 17, 0, 17, 13, 22, 4, 0, 25, 0, 0, 76, 0, 0, 0, 152, 0, 0, 232, 0, 0, 0, 7, 0, 0, 15, 0, 0, 147, 24, 0, 0, 0, 29, 0, 54, 0, 0, 0, 113, 0, 0, 0, 0, 0, 141, 0, 0, 2, 239, 2, 0, 0, 0, 0, 7, 2, 0, 0, 145, 18, 0, 18, 0, 18, 54, 0, 221, 0, 0, 0, 0, 0, 0, 33, 0, 0, 0, 0, 51, 68, 0, 102, 0, 0, 34, 0, 5, 10, 0, 10, 0, 10, 0, 0, 209, 10, 5, 0, 2, 0, 0, 0, 245, 0, 2, 0, 0, 18, 0, 0, 223, 3, 8, 0, 3, 0, 0, 25, 38, 0, 0, 114, 0, 0, 76, 0, 0, 2, 0, 5, 35, 10, 0, 201, 0, 2, 0, 0, 0, 0, 30, 134, 0, 0, 0, 90, 0, 28, 0, 85, 0, 0, 0, 0, 85, 56, 0, 0, 0, 0, 0, 242, 0, 0, 6, 6, 0, 28, 0, 0, 0, 0, 0, 0, 0, 226, 0, 0, 6, 27, 0, 6, 0, 0, 0, 215, 0, 0, 0, 0, 64, 106, 21, 32, 0, 32, 15, 0, 15, 0, 44, 116, 51, 0, 0, 15, 0, 9, 9, 11, 9, 0, 0, 204, 4, 9, 5, 0, 0, 0, 244, 0, 5, 0, 0, 0, 0, 64, 0, 0, 42, 0, 21, 85, 42, 0, 0, 18, 26, 0, 9, 0, 0, 18, 35, 149, 0, 239, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 169, 0, 0, 85, 0, 0, 0, 0, 6, 0, 0, 10, 0, 238, 0, 0, 0, 0, 102, 0, 0, 0, 51, 102, 0, 0, 0, 0, 0, 15, 15, 0, 36, 0, 160, 29, 0, 0, 193, 0, 0, 41, 0, 0, 0, 10, 10, 0, 33, 13, 27, 0, 0, 0, 0, 120, 60, 0, 0, 0, 0, 0, 15, 0, 0, 8, 231, 0, 0, 0, 0, 0, 141, 0, 0, 113, 0, 0, 0, 91, 36, 0, 0, 0, 0, 127, 0, 0, 0, 0, 0, 38, 216, 0, 0, 0, 0, 0, 27, 0, 67, 53, 0, 0, 0, 40, 67, 22, 18, 0, 7, 4, 0, 0, 7, 196, 0, 0, 11, 0, 127, 0, 11, 0, 0, 53, 53, 0, 9, 0, 0, 26, 0, 0, 0, 0, 219, 0, 226, 0, 0, 0, 0, 28, 0, 0, 0, 0, 0, 237, 0, 0, 17, 0, 0, 0, 0, 0, 8, 212, 17, 0, 0, 0, 3, 11, 3, 0, 189, 4, 8, 0, 0, 0, 0, 50, 4, 0, 20, 0, 0, 0, 0, 0, 0, 234, 0, 0, 35, 0, 0, 26, 35, 0, 70, 0, 88, 0, 0, 0, 0, 241, 0, 0, 13, 0, 0, 0, 0, 5, 249, 0, 0, 0, 0, 0, 0, 0, 0, 0, 54, 0, 45, 0, 0, 0, 154 };

int32_t mytree_predict(const int16_t *features, int32_t features_length) {

        float out[10] = {0.0f,};

        int offset = 0;

        offset = 10*mytree_tree_0(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_1(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_2(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_3(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_4(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_5(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_6(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_7(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_8(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_9(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_10(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_11(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_12(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_13(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_14(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_15(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_16(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_17(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_18(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_19(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_20(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_21(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_22(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_23(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_24(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_25(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_26(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_27(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_28(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_29(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    
        // argmax over probabilities
        int32_t most_voted_class = -1;
        float most_voted_proba = 0.0f;
        for (int32_t i=0; i<10; i++) {

            if (out[i] > most_voted_proba) {
                most_voted_class = i;
                most_voted_proba = out[i];
            }
        }
        return most_voted_class;
    }
    

int mytree_predict_proba(const int16_t *features, int32_t features_length, float *out, int out_length) {

        int offset = 0;

        for (int i=0; i<out_length; i++) {
            out[i] = 0.0f;
        }

        offset = 10*mytree_tree_0(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_1(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_2(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_3(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_4(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_5(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_6(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_7(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_8(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_9(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_10(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_11(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_12(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_13(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_14(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_15(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_16(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_17(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_18(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_19(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_20(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_21(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_22(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_23(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_24(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_25(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_26(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_27(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_28(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    offset = 10*mytree_tree_29(features, features_length);
            for (int i=0; i<10; i++) { out[i] += (mytree_leaves[offset+i]/255.0f); }
        
    
        // compute mean
        for (int i=0; i<out_length; i++) {
            out[i] = out[i] / 30;
        }
        return 0;
    }
    

            int32_t
            predict_wrapper(const float *values, int length) {
                // Convert to whatever is needed for inline
                int16_t features[64];
                for (int i=0; i<length; i++) {
                    features[i] = (int16_t)values[i];
                }
                const int32_t out = mytree_predict(features, length);
                if (out < 0) {
                    return -out;
                }
                return out;
            }

            int
            predict_proba_wrapper(const float *values, int length, float *outputs, int n_outputs) {
                // Convert to whatever is needed for inline
                int16_t features[64];
                for (int i=0; i<length; i++) {
                    features[i] = (int16_t)values[i];
                }

                const int err =                     mytree_predict_proba(features, length, outputs, n_outputs);

                return err;
            }
            